package collection_test

import (
	"fmt"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestDefaultLimitOfProfile checks that a request without a limit gets the limit of the profile and its
// parameters.
func TestDefaultLimitOfProfile(t *testing.T) {
	files := map[string]string{}
	for i := range 25 {
		files[fmt.Sprintf("n%d.md", i)] = "heron\n"
	}
	f := collectiontest.Open(t, files, nil)
	f.Index(t)
	r := reader(t, f, access.Unrestricted())
	for _, c := range []struct {
		q    collection.SearchRequest
		want int
	}{
		{collection.SearchRequest{Profile: "tree"}, 20},
		{collection.SearchRequest{Profile: "tree", Parameters: map[string]string{"max_results": "12"}}, 12},
		{collection.SearchRequest{Profile: "tree", Limit: 5}, 5},
		{collection.SearchRequest{}, collection.DefaultLimit},
	} {
		c.q.Text = "heron"
		if a := find(t, r, c.q); len(a.Results) != c.want {
			t.Errorf("%+v: %d results, want %d", c.q, len(a.Results), c.want)
		}
	}
}
