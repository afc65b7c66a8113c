package ingest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sheaf"
	"sheaf/backend"
	"sheaf/ingest"
)

var errHeavy = errors.New("the store takes at most 10 chunks of a document")

// picky is a store that takes no document with "heavy" in its name, as long as light
// is false, and writes the rest of a batch, as servers do.
type picky struct {
	backend.Backend
	light bool
}

func (p *picky) Write(ctx context.Context, batch backend.Batch) error {
	taken := backend.Batch{Replace: batch.Replace}
	partial := &backend.PartialError{Rejected: map[sheaf.ID]error{}}
	for _, c := range batch.Chunks {
		if !p.light && strings.Contains(string(c.Doc), "heavy") {
			partial.Rejected[c.Doc] = errHeavy
		} else {
			taken.Chunks = append(taken.Chunks, c)
		}
	}
	if err := p.Backend.Write(ctx, taken); err != nil || len(partial.Rejected) == 0 {
		return err
	}
	return partial
}

// TestRejected: what the store does not take is left out, with its words, and the rest
// is indexed; it is not sent again before it changes, and what was known of it goes.
func TestRejected(t *testing.T) {
	w := newWorld(t)
	store := &picky{Backend: w.o.Backend}
	w.o.Backend = store
	w.write("a.md", "# A\n\nlight words\n")
	w.write("heavy.md", "# B\n\nheavy words\n")
	r := w.run()
	if r.Added != 1 || len(r.Skipped) != 1 || r.Skipped[0].Path != "heavy.md" || r.Skipped[0].Reason != ingest.ReasonRefused || !strings.Contains(r.Skipped[0].Detail, errHeavy.Error()) {
		t.Fatalf("%+v", r)
	}
	if got := state(t, w.o); strings.Contains(got, "heavy") || !strings.Contains(got, "t:a.md") {
		t.Errorf("the index holds\n%s", got)
	}
	before := w.generation()
	if r := w.run(); r.Added+r.Changed != 0 || len(r.Skipped) != 1 || w.generation() != before {
		t.Errorf("again: %+v", r)
	}
	store.light = true
	w.write("heavy.md", "# B\n\nnot so heavy words\n")
	if r := w.run(); r.Added != 1 || len(r.Skipped) != 0 {
		t.Errorf("when it changed: %+v", r)
	}
	store.light = false
	w.write("heavy.md", "# B\n\nheavy again\n")
	if r := w.run(); r.Changed != 0 || r.Removed != 1 || len(r.Skipped) != 1 {
		t.Errorf("when it is refused after all: %+v", r)
	}
	if got := state(t, w.o); strings.Contains(got, "heavy") {
		t.Errorf("the index still holds\n%s", got)
	}
}
