package collectiontest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/store"
)

// Picky is a store without transactions. It refuses documents with "heavy" in their text and writes the rest of a
// batch.
type Picky struct{ store.Backend }

// Write implements store.Backend.
func (p Picky) Write(ctx context.Context, batch store.Batch) error {
	partial := &store.PartialError{Rejected: map[sheaf.ID]error{}}
	taken := store.Batch{Replace: batch.Replace}
	for _, c := range batch.Chunks {
		if slices.ContainsFunc(c.Fields, func(f store.Field) bool { return strings.Contains(f.Text, "heavy") }) {
			partial.Rejected[c.Doc] = sheaf.Invalidf("it is too heavy")
			continue
		}
		taken.Chunks = append(taken.Chunks, c)
	}
	if err := p.Backend.Write(ctx, taken); err != nil || len(partial.Rejected) == 0 {
		return err
	}
	return partial
}

// Working runs c.Work until end is called or the test ends.
func Working(t testing.TB, c *collection.Collection) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Work(ctx) }()
	end = sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("work ended with %v", err)
		}
	})
	t.Cleanup(end)
	return end
}
