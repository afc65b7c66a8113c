package storetest

import (
	"errors"
	"slices"
	"testing"

	"sheaf"
	"sheaf/store"
)

// ListOnly checks a store that was opened for listing: it returns the documents of [Library] and
// accepts no write.
func ListOnly(t *testing.T, b store.Backend) {
	t.Helper()
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
