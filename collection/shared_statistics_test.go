package collection_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/store"
)

// corpusOnly is a store with word statistics over all chunks only.
type corpusOnly struct{ store.Backend }

func (b corpusOnly) Supports(req store.Request) error {
	if req.CountsAmong() {
		return fmt.Errorf("store: %w: statistics", sheaf.ErrUnsupported)
	}
	return nil
}

func (b corpusOnly) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if err := b.Supports(req); err != nil {
		return sheaf.Ranking{}, err
	}
	return b.Backend.Retrieve(ctx, req)
}

// TestSharedStatistics checks a store that counts words over all documents only. A caller that sees
// a part gets an error with the option that allows word search. With the option, the caller finds
// only visible documents.
func TestSharedStatistics(t *testing.T) {
	for _, shared := range []bool{false, true} {
		f := collectiontest.Open(t, map[string]string{
			"open.md":   "---\naccess: public\n---\n# Open\n\nbudget\n",
			"hidden.md": "# Hidden\n\nbudget budget\n",
		}, func(o *collection.Options) { o.Backend, o.SharedStatistics = corpusOnly{o.Backend}, shared })
		q := collection.SearchRequest{Text: "budget", Profile: "bench"}
		if a := find(t, reader(t, f, access.Unrestricted()), q); len(a.Results) != 2 {
			t.Errorf("who sees everything: %+v", a.Results)
		}
		a, err := reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}}).Search(t.Context(), q)
		switch {
		case !shared && (!errors.Is(err, sheaf.ErrUnsupported) || !strings.Contains(err.Error(), "--shared-statistics")):
			t.Errorf("not allowed: %+v, %v", a, err)
		case shared && (err != nil || len(a.Results) != 1 || a.Results[0].Path != "open.md"):
			t.Errorf("allowed: %+v, %v", a, err)
		}
	}
}
