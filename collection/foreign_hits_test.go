package collection_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/store"
)

// TestForeignHitsAreSkipped checks that hits of another program in the same store are skipped, with one note. Callers
// that may not see everything get no note, because the hits may be hidden documents.
func TestForeignHitsAreSkipped(t *testing.T) {
	for _, distant := range []bool{true, false} {
		f := collectiontest.Open(t, map[string]string{"open.md": "---\naccess: public\n---\n# Open\n\nbudget\n"},
			func(o *collection.Options) { o.Distant = distant })
		told := func(g access.Grant) int {
			t.Helper()
			n := 0
			for _, profile := range []string{"bench", "sheaf", "rrf"} {
				a := find(t, reader(t, f, g), collection.SearchRequest{Text: "budget", Profile: profile})
				for i, r := range a.Results {
					if i == 0 && r.Path != "open.md" || r.ID.Tree() != collectiontest.Tree {
						t.Errorf("%s: result %d is %s", profile, i, r.ID)
					}
				}
				said := 0
				for _, note := range slices.Concat(a.Notes, a.Warnings) {
					if strings.Contains(note, "returns documents that this index does not know") {
						said++
					}
				}
				if said > 1 {
					t.Errorf("%s says it %d times", profile, said)
				}
				n += said
			}
			return n
		}
		if n := told(access.Unrestricted()); n != 0 {
			t.Errorf("nothing is strange, and %d answers say so", n)
		}
		strange := store.Chunk{ID: "other:x.md", Doc: "other:x.md",
			Fields:  []store.Field{{Name: sheaf.FieldBody, Text: "budget"}},
			Columns: []store.Column{{Name: sheaf.ColumnAccess, Values: []sheaf.Value{sheaf.TextValue("public")}}}}
		if err := f.Options.Backend.Write(t.Context(), store.Batch{Chunks: []store.Chunk{strange}}); err != nil {
			t.Fatal(err)
		}
		f.Write(t, "more.md", "# More\n\nnothing\n")
		f.Index(t) // invalidates the cached answers
		want := 0
		if distant {
			want = 3
		}
		if n := told(access.Unrestricted()); n != want {
			t.Errorf("distant %t: %d answers say that they leave hits out, want %d", distant, n, want)
		}
		if n := told(access.Grant{Scopes: []access.Scope{access.ScopeSearch}}); n != 0 {
			t.Errorf("distant %t: %d answers tell a caller with a part", distant, n)
		}
	}
}
