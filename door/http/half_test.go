package http_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/store"
)

// half is a store that has what it was given, and then fails when it is told to, as when
// there is no room for the catalog behind it.
type half struct {
	store.Backend
	fails atomic.Bool
}

func (h *half) Write(ctx context.Context, b store.Batch) error {
	err := h.Backend.Write(ctx, b)
	if h.fails.Load() {
		return errors.Join(err, errors.New("it fails"))
	}
	return err
}

// A change that fails when the store has it already leaves the document as it was: in the
// running server soon, or when the next one begins.
func TestHalfMade(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for method, body := range map[string]string{"PUT": `{"text": "Pears."}`, "DELETE": ""} {
			store := &half{}
			fixture := collectiontest.Open(t, notes, func(o *collection.Options) { store.Backend, o.Backend = o.Backend, store })
			s := startOf(t, fixture, nil)
			if !restart {
				working(t, fixture.Collection)
			}
			s.get(t, "PUT", "/v1/documents/api:a.md", `{"text": "Apples."}`, &collection.Stored{})
			store.fails.Store(true)
			if res, answer := s.ask(t, method, "/v1/documents/api:a.md", body); res.StatusCode != 500 {
				t.Fatalf("%s: %d %s", method, res.StatusCode, answer)
			}
			store.fails.Store(false)
			if restart {
				next, err := collection.New(fixture.Options)
				if err != nil {
					t.Fatal(err)
				}
				working(t, next)
			}
			eventually(t, fmt.Sprintf("after %s, another process %v, it is as it was", method, restart), func() bool {
				return slices.Contains(found(t, s, "apples"), "api:a.md") && len(found(t, s, "pears")) == 0
			})
		}
	}
}
