package collection_test

import (
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestCountsCoverVisibleDocuments checks that word counts cover only documents visible to the caller.
// Cached counts of another caller and a changed access list do not matter.
func TestCountsCoverVisibleDocuments(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"open.md":   "---\naccess: public\n---\n# Open\n\nbudget\n",
		"ann.md":    "---\naccess: [user:ann]\n---\n# Ann\n\nbudget\n",
		"hidden.md": "# Hidden\n\nbudget\n",
	}, nil)
	search := []access.Scope{access.ScopeSearch}
	nobody, ann, all := access.Grant{Scopes: search}, access.Grant{Scopes: search, Access: []string{"user:ann"}},
		access.Unrestricted()
	counts := func(when string, want ...int) {
		t.Helper()
		for range 2 { // the second time from the cache
			for i, grant := range []access.Grant{nobody, ann, all} {
				a, err := reader(t, f, grant).Search(t.Context(), collection.SearchRequest{Text: "budget", Count: true})
				if err != nil || a.Matches == nil || *a.Matches != want[i] || len(a.Results) != want[i] {
					t.Errorf("%s, caller %d: %+v, %v; want %d", when, i, a, err, want[i])
				}
			}
		}
	}
	counts("at first", 1, 2, 3)
	f.Write(t, "hidden.md", "---\naccess: public\n---\n# Hidden\n\nbudget\n")
	f.Write(t, "ann.md", "---\naccess: [user:bob]\n---\n# Ann\n\nbudget and more\n")
	f.Index(t)
	counts("with other lists", 2, 2, 3)
}
