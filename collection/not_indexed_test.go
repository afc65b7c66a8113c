package collection_test

import (
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestNothingIndexed checks that a search before the first run succeeds without results.
func TestNothingIndexed(t *testing.T) {
	f := collectiontest.Unindexed(t, map[string]string{"a.md": "# Okapi\n"}, nil)
	for _, grant := range []access.Grant{access.Unrestricted(), {Scopes: []access.Scope{access.ScopeSearch}}} {
		r, err := f.Collection.For(grant)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if a, err := r.Search(t.Context(), collection.SearchRequest{Text: "okapi zebra", Limit: 10}); err != nil ||
				len(a.Results) != 0 {
				t.Errorf("%+v, %v", a, err)
			}
		}
		r.Close()
	}
}
