package opensearch_test

import (
	"net/http"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storetest"
)

// TestRemovedStore checks that a search says so when the indices of an open store are removed. An
// invalid request or an empty result would be wrong.
func TestRemovedStore(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		o := s.New(t)
		b := s.Open(t, o)
		defer b.Close()
		storetest.Removed(t, b, func() error { return opensearch.Drop(t.Context(), o) })
	})
}

// TestDictionaryRemoved checks that a write without the dictionary fails, so that the server does
// not create one with another mapping. Opening with the right to make indices creates it again.
func TestDictionaryRemoved(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		o := s.New(t)
		b := s.Open(t, o)
		defer b.Close()
		must.Do(t, b.Write(t.Context(), storetest.One("t:a", "stone")))
		asked(t, o, http.MethodDelete, "/"+o.Index+"-terms", "")
		check.Is(t, b.Write(t.Context(), storetest.One("t:b", "moss")), sheaf.ErrNotFound, "a write without the dictionary")
		existing := o
		existing.Access = store.Existing
		check.Fails(t, must.Err(opensearch.Open(t.Context(), existing)), sheaf.ErrNotFound,
			"dictionary", "opened without the dictionary")
		again := s.Open(t, o)
		defer again.Close()
		check.NoError(t, again.Write(t.Context(), storetest.One("t:b", "moss")), "a write after the dictionary is made again")
	})
}
