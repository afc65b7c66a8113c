package storetest

import (
	"errors"
	"slices"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// Removed checks what a search returns after drop removes the store's place on the server. The error must be
// sheaf.ErrNotFound, not an invalid request or an empty result.
func Removed(t *testing.T, b store.Backend, drop func() error) {
	t.Helper()
	must.Do(t, b.Write(t.Context(), One("t:a", "stone")))
	must.Equal(t, Hits(t, b, "stone"), 1, "chunks found before")
	must.Do(t, drop())
	got, err := b.Retrieve(t.Context(), Words(sheaf.Match{Text: "stone"}))
	check.That(t, errors.Is(err, sheaf.ErrNotFound), "found %v, %v", got, err)
}

// ListOnly makes a store with the options in made, and opens it for listing with the options in listed. The store must
// return the documents of [Library] and refuse writes.
func ListOnly[O any](t *testing.T, s *Stores[O], made O, listed O) {
	t.Helper()
	b := s.Open(t, made)
	must.Do(t, errors.Join(b.Write(t.Context(), Library()), b.Close()))
	b = s.Open(t, listed)
	defer b.Close()
	var docs, want []sheaf.ID
	for _, c := range Library().Chunks {
		want = append(want, c.Doc)
	}
	err := b.(store.Streamer).Stream(t.Context(), "", func(chunks []store.Chunk, _ string) error {
		for i := range chunks {
			docs = append(docs, chunks[i].Doc)
		}
		return nil
	})
	slices.Sort(docs)
	slices.Sort(want)
	check.That(t, err == nil && slices.Equal(docs, want), "documents %v, %v, want %v", docs, err, want)
	check.Is(t, b.Write(t.Context(), One("t:new", "x")), sheaf.ErrUnsupported, "a write")
}
