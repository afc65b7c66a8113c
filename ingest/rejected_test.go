package ingest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

var errHeavy = errors.New("the store takes at most 10 chunks of a document")

// picky is a store that rejects documents with "heavy" in their ID while light is false. It writes
// the rest of a batch, as servers do.
type picky struct {
	store.Backend
	light bool
}

func (p *picky) Write(ctx context.Context, batch store.Batch) error {
	taken := store.Batch{Replace: batch.Replace}
	partial := &store.PartialError{Rejected: map[sheaf.ID]error{}}
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

// TestRejected checks that a run reports a rejected document with the store's reason and indexes
// the rest. Until the document changes, no run sends it again. Its old content leaves the index.
func TestRejected(t *testing.T) {
	w := newWorld(t)
	store := &picky{Backend: w.o.Backend}
	w.o.Backend = store
	w.write("a.md", "# A\n\nlight words\n")
	w.write("heavy.md", "# B\n\nheavy words\n")
	r := w.run()
	must.That(t, r.Added == 1 && len(r.Skipped) == 1 && r.Skipped[0].Path == "heavy.md" &&
		r.Skipped[0].Reason == ingest.ReasonRefused && strings.Contains(r.Skipped[0].Detail, errHeavy.Error()), "%+v", r)
	got := state(t, w.o)
	check.That(t, !strings.Contains(got, "heavy") && strings.Contains(got, "t:a.md"), "the index holds\n%s", got)
	before := w.generation()
	r = w.run()
	check.That(t, r.Added+r.Changed == 0 && len(r.Skipped) == 1 && w.generation() == before, "again: %+v", r)
	store.light = true
	w.write("heavy.md", "# B\n\nnot so heavy words\n")
	r = w.run()
	check.That(t, r.Added == 1 && len(r.Skipped) == 0, "when it changed: %+v", r)
	store.light = false
	w.write("heavy.md", "# B\n\nheavy again\n")
	r = w.run()
	check.That(t, r.Changed == 0 && r.Removed == 1 && len(r.Skipped) == 1, "when it is refused after all: %+v", r)
	got = state(t, w.o)
	check.That(t, !strings.Contains(got, "heavy"), "the index still holds\n%s", got)
}

// TestPartlyRejectedBatch checks a store that accepts a part of a batch. The catalog then has the same
// part: documents put and removed. Neither the catalog nor the store keeps a rejected document.
func TestPartlyRejectedBatch(t *testing.T) {
	w := newWorld(t)
	st := &picky{Backend: w.o.Backend, light: true}
	w.o.Backend, w.o.Trees = st, []catalog.Tree{{Name: "given"}}
	doc := func(path, text string) ingest.Given {
		return ingest.Given{Tree: "given", Path: path, Text: []byte(text)}
	}
	old := []ingest.Given{doc("heavy.md", "alpha one"), doc("b.md", "alpha two")}
	must.Get(ingest.Change(t.Context(), w.o, old, nil))
	st.light = false
	r, err := ingest.Change(t.Context(), w.o, []ingest.Given{doc("heavy.md", "alpha three"), doc("c.md", "alpha four")},
		[]sheaf.ID{"given:b.md", "given:none.md"})
	var partial *store.PartialError
	must.That(t, errors.As(err, &partial) && partial.Rejected["given:heavy.md"] != nil, "%v", err)
	check.That(t, r.Added == 1 && r.Changed == 0 && r.Removed == 2, "%+v", r)
	must.Do(t, w.o.Catalog.Reload())
	want := "doc given:c.md \"c\"\ncatalog given:c.md {0 10}\nchunk given:c.md\nalpha given:c.md "
	if got := state(t, w.o); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != strings.Count(want, "\n") {
		t.Errorf("the index holds\n%s\nwant\n%s", got, want)
	}
}

// TestReportCountsRemovals checks that the report counts only removals that reached a store, and that errors name the
// request.
func TestReportCountsRemovals(t *testing.T) {
	w := newWorld(t)
	store := &picky{Backend: w.o.Backend}
	w.o.Backend, w.o.Trees = store, []catalog.Tree{{Name: "given"}}
	must.Get(ingest.Change(t.Context(), w.o, []ingest.Given{{Tree: "given", Path: "a.md", Text: []byte("alpha")}}, nil))
	off := w.o
	off.Backend = away{store}
	r, err := ingest.Change(t.Context(), off, nil, []sheaf.ID{"given:a.md"})
	check.That(t, errors.Is(err, sheaf.ErrUnavailable) &&
		strings.Contains(err.Error(), "some of 1 documents may be removed already") && r.Removed == 0, "%+v, %v", r, err)
	r, err = ingest.Change(t.Context(), w.o, nil, []sheaf.ID{"given:none.md", "given:a.md"})
	check.That(t, err == nil && r.Removed == 1, "%+v, %v", r, err)
}
