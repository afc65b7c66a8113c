package collection_test

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/store"
)

// helped counts the requests that others may help with, and those that nobody may.
type helped struct {
	store.Backend
	together, alone atomic.Int32
}

func (h *helped) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if store.IsAlone(ctx) {
		h.alone.Add(1)
	} else {
		h.together.Add(1)
	}
	return h.Backend.Retrieve(ctx, req)
}

// everyTurn is a turn of which full says whether all others are taken too.
type everyTurn struct{ full bool }

func (*everyTurn) Take(context.Context, time.Duration) error { return nil }
func (*everyTurn) Rest()                                     {}
func (*everyTurn) End()                                      {}
func (e *everyTurn) Full() bool                              { return e.full }

// While others have the processors a search does one thing after another, and finds the
// same; one on another machine asks for all at once as ever.
func TestAloneWhenFull(t *testing.T) {
	files := map[string]string{"port.md": "# Port\n\nShips come and go in the harbor.\n", "dock.md": "# Dock\n\nNine cranes, near the harbor.\n"}
	for _, distant := range []bool{false, true} {
		store := &helped{}
		r := reader(t, collectiontest.Open(t, files, func(o *collection.Options) {
			o.Backend, store.Backend = store, o.Backend
			o.CacheBytes, o.Distant = 0, distant
		}), access.Unrestricted())
		var found [2]*collection.Answer
		for i, full := range []bool{false, true} {
			store.together.Store(0)
			store.alone.Store(0)
			a, err := r.Search(collection.WithTurn(t.Context(), &everyTurn{full}), collection.SearchRequest{Text: "harbor cranes", Limit: 1 + i, Window: 20})
			if err != nil {
				t.Fatal(err)
			}
			found[i] = a
			if together, alone := store.together.Load(), store.alone.Load(); (together > 0) == (full && !distant) || (alone > 0) != (full && !distant) {
				t.Errorf("distant %v, full %v: %d requests together, %d alone", distant, full, together, alone)
			}
		}
		a, b := found[0].Results, found[1].Results
		if len(a) != 1 || len(b) != 2 || !reflect.DeepEqual(a[0], b[0]) {
			t.Errorf("distant %v: %+v, alone %+v", distant, a, b)
		}
	}
}
