package catalog

import (
	"slices"
	"testing"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestFolders checks the list and the number of documents directly in each folder.
func TestFolders(t *testing.T) {
	c := must.Get(Open(vfs.Disk{}, t.TempDir(), Options{}))
	defer c.Close()
	var put []Record
	for _, path := range []string{"a.md", "f/b.md", "f/c.md", "f/g/d.md", "f/h/e.md", "f/i.md", "fa.md"} {
		put = append(put, Record{Document: sheaf.Document{ID: sheaf.DocumentID("t", path), Tree: "t", Path: path}})
	}
	must.Do(t, c.Update(t.Context(), Update{Put: put}))
	must.Do(t, c.Update(t.Context(), Update{Delete: []sheaf.ID{"t:f/c.md"}}))
	v := c.View()
	defer v.Close()
	for range 2 {
		for folder, want := range map[string][]sheaf.ID{"": {"t:a.md", "t:fa.md"}, "f": {"t:f/b.md", "t:f/i.md"},
			"f/g": {"t:f/g/d.md"}, "none": nil} {
			if got := slices.Collect(v.InFolder("t", folder)); !slices.Equal(got, want) ||
				v.FolderSize("t", folder) != len(want) {
				t.Errorf("in %q are %v, %d, want %v", folder, got, v.FolderSize("t", folder), want)
			}
		}
	}
	for id := range v.InFolder("t", "") {
		check.Equal(t, id, "t:a.md", "file after the end")
		break
	}
	must.Do(t, v.Err())
}
