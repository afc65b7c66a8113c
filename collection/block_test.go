package collection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestBlockOfResult checks that a result names the block of its match, also from the cache, and
// that get accepts that name.
func TestBlockOfResult(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# Birds\n\nFree.\n\nThe egret. ^bird\n\nThe heron.\n",
		"b.txt": "The stork. ^bird\n"}, nil)
	for range 2 {
		r := reader(t, f, access.Unrestricted())
		a := find(t, r, collection.SearchRequest{Text: "egret"})
		if got := a.Results[0].Block; got != "notes:a.md#^bird" {
			t.Fatalf("block %q", got)
		}
		if text, err := json.Marshal(a); err != nil ||
			!strings.Contains(string(text), `"line":5,"block":"notes:a.md#^bird"`) {
			t.Errorf("%s, %v", text, err)
		}
		target, err := r.Find(string(a.Results[0].Block))
		if err != nil || target.Line != 5 || target.Count != 1 {
			t.Errorf("got %+v, %v", target, err)
		}
		for _, word := range []string{"heron", "stork"} {
			if got := find(t, r, collection.SearchRequest{Text: word}).Results[0].Block; got != "" {
				t.Errorf("%s: block %q", word, got)
			}
		}
	}
}
