package collection_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
)

// TestMissingFolder checks that the status names a missing folder, and that its indexed documents
// return with the folder.
func TestMissingFolder(t *testing.T) {
	away := filepath.Join(t.TempDir(), "disk")
	if err := os.MkdirAll(away, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(away, "b.md"), []byte("# B\n\nA harbor.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, func(o *collection.Options) {
		o.Ingest.Trees = append(o.Ingest.Trees, catalog.Tree{Name: "disk", Root: away})
	})
	look := func(gone []string) {
		t.Helper()
		f.Index(t)
		r := reader(t, f, access.Unrestricted())
		st, err := r.Status(t.Context())
		if err != nil || st.Watch == nil || !slices.Equal(st.Watch.Gone, gone) || st.Documents != 2 {
			t.Errorf("%+v, %v: want %v gone", st, err, gone)
		}
		if n := len(find(t, r, collection.SearchRequest{Text: "harbor"}).Results); n != 2 && len(gone) == 0 {
			t.Errorf("%d found", n)
		}
	}
	look(nil)
	if err := os.Rename(away, away+".off"); err != nil {
		t.Fatal(err)
	}
	look([]string{away})
	if err := os.Rename(away+".off", away); err != nil {
		t.Fatal(err)
	}
	look(nil)
}
