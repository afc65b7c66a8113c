package storetest

import (
	"context"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/text/analysis"
)

// Stores opens stores for tests. It remembers the options of each store, so that Reopen can open the store again.
type Stores[O any] struct {
	// New returns the options of a new, empty store.
	New func(t testing.TB) O
	// With opens a store with the options o.
	With func(ctx context.Context, o O) (store.Backend, error)

	options map[store.Backend]O
}

// Open opens a store with the options o.
func (s *Stores[O]) Open(t testing.TB, o O) store.Backend {
	t.Helper()
	b := must.Get(s.With(context.Background(), o))
	if s.options == nil {
		s.options = map[store.Backend]O{}
	}
	s.options[b] = o
	return b
}

// Empty opens a new store.
func (s *Stores[O]) Empty(t testing.TB) store.Backend {
	t.Helper()
	return s.Open(t, s.New(t))
}

// Reopen closes a store and opens it again.
func (s *Stores[O]) Reopen(t testing.TB, b store.Backend) store.Backend {
	t.Helper()
	must.Do(t, b.Close())
	return s.Open(t, s.options[b])
}

// Refusing returns a function that checks that a store does not open. The function changes a copy of valid options with
// change, and opens the store with the copy. The error must wrap want and contain the text in says. what names the
// check in failures.
func (s *Stores[O]) Refusing(t *testing.T, valid O) func(what string, change func(o *O), want error, says string) {
	return func(what string, change func(o *O), want error, says string) {
		t.Helper()
		bad := valid
		change(&bad)
		b, err := s.With(t.Context(), bad)
		if err == nil {
			_ = b.Close()
		}
		check.Fails(t, err, want, says, "%s", what)
	}
}

// Healthy checks that the findings of an Examine contain no fault.
func Healthy(t *testing.T, found []store.Finding) {
	t.Helper()
	for _, f := range found {
		check.That(t, f.Err == nil, "%s: %v", f.Check, f.Err)
	}
}

// Analyzer returns the analyzer of a language.
func Analyzer(t testing.TB, language string) *analysis.Analyzer {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: language}))
	return a
}
