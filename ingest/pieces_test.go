package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/model/hashed"
	"sheaf/store"
)

// pieced stores the chunks it gets, and the largest number in one call.
type pieced struct {
	store.Backend
	most, all int
	batch     store.Batch
}

func (p *pieced) Bulk(context.Context) (store.BulkWriter, error) { return p, nil }

func (p *pieced) Add(_ context.Context, batch store.Batch) error {
	p.most, p.all = max(p.most, len(batch.Chunks)), p.all+len(batch.Chunks)
	p.batch.Replace = append(p.batch.Replace, batch.Replace...)
	p.batch.Chunks = append(p.batch.Chunks, batch.Chunks...)
	return nil
}

func (p *pieced) Commit(ctx context.Context) error {
	batch := p.batch
	p.batch = store.Batch{}
	return p.Write(ctx, batch)
}

func (p *pieced) Close() error { return nil }

// TestLongDocument checks that the chunks of a document with very many headings are never in memory
// all at once, and that all of them are written.
func TestLongDocument(t *testing.T) {
	w := newWorld(t)
	w.write("long.md", strings.Repeat("# Part\n\nalpha\n\n## Below\n\nalpha\n\n", 5000))
	p := &pieced{Backend: w.o.Backend}
	w.o.Backend = p
	if r := w.run(); r.Chunks < 10_000 || p.all != r.Chunks || p.most > 1000 {
		t.Errorf("%d chunks, %d written, at most %d at once", r.Chunks, p.all, p.most)
	}
	w.sameAsClean("long")
}

// noBulk is a store without a bulk writer, like most servers.
type noBulk struct{ store.Backend }

// TestVectorsOfPieces checks that the pieces of a long document keep their vectors until one call
// writes all of them.
func TestVectorsOfPieces(t *testing.T) {
	w := newWorld(t)
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintf(&text, "# Part %d\n\nword%d\n\n", i, i)
	}
	w.write("long.md", text.String())
	m := &fakeModel{Embedder: hashed.New(256)}
	w.o.Backend, w.o.Embedder = noBulk{w.o.Backend}, windowModel{m}
	w.run()
	for _, i := range []int{3, 400, 599} {
		want := sheaf.ID(fmt.Sprintf("t:long.md#part-%d", i))
		if got := nearest(t, w, m, fmt.Sprintf("Part %d\nword%d", i, i)); got != want {
			t.Errorf("nearest to part %d is %s, want %s", i, got, want)
		}
	}
}
