package collection_test

import (
	"context"
	"sync/atomic"
	"testing"

	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/store"
)

// unlisted is a store that counts but lists no values, like stores on other machines.
type unlisted struct {
	countable
	counted *atomic.Int64
}

// Count implements store.Counter.
func (u unlisted) Count(ctx context.Context, req store.Request) (int, error) {
	u.counted.Add(1)
	return u.countable.Count(ctx, req)
}

// TestEmptyFilterOfStoreWithoutValues checks that no counts are sent for filter values to a store that
// cannot list values.
func TestEmptyFilterOfStoreWithoutValues(t *testing.T) {
	var counted atomic.Int64
	f := collectiontest.Open(t, notes, func(o *collection.Options) {
		o.Backend = unlisted{o.Backend.(countable), &counted}
	})
	for _, grant := range []access.Grant{access.Unrestricted(),
		{Scopes: []access.Scope{access.ScopeSearch}, Access: []string{access.All}}} {
		r := reader(t, f, grant)
		find(t, r, collection.SearchRequest{Text: "tag:aaa"}) // fills the cache with all other counts
		before := counted.Load()
		if a := find(t, r, collection.SearchRequest{Text: "tag:zzz tag:yyy path:none/"}); len(a.Results) != 0 ||
			counted.Load() != before {
			t.Errorf("%d results, counted %d times", len(a.Results), counted.Load()-before)
		}
	}
}
