package storetest

import (
	"errors"
	"slices"
	"testing"

	"sheaf"
	"sheaf/store"
)

// Removed checks that a search says so when the place of an open store on the server is removed. An
// invalid request or an empty result would be wrong.
func Removed(t *testing.T, b store.Backend, drop func() error) {
	t.Helper()
	if err := b.Write(t.Context(), One("t:a", "stone")); err != nil {
		t.Fatal(err)
	}
	if Hits(t, b, "stone") != 1 {
		t.Fatal("nothing found before")
	}
	if err := drop(); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Retrieve(t.Context(), Words(sheaf.Match{Text: "stone"})); !errors.Is(err, sheaf.ErrNotFound) {
		t.Errorf("found %v, %v", got, err)
	}
}

// ListOnly checks that a store with the documents of [Library] can be opened for listing with
// options that it was not made with: it returns the documents and accepts no write.
func ListOnly[O any](t *testing.T, s *Stores[O], made O, listed O) {
	t.Helper()
	b := s.Open(t, made)
	if err := errors.Join(b.Write(t.Context(), Library()), b.Close()); err != nil {
		t.Fatal(err)
	}
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
	if err != nil || !slices.Equal(docs, want) {
		t.Errorf("documents %v, %v, want %v", docs, err, want)
	}
	if err := b.Write(t.Context(), One("t:new", "x")); !errors.Is(err, sheaf.ErrUnsupported) {
		t.Errorf("a write: %v", err)
	}
}
