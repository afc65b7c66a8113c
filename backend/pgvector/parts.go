package pgvector

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/textplan"
)

// Parts of a batch: the first is small, so that the server has something to do soon.
const (
	firstPart = 16
	maxPart   = 128
)

// addParts adds a batch in parts, of which this program analyzes some while the server
// takes those before them.
func (w *load) addParts(ctx context.Context, batch *backend.Batch) error {
	if len(batch.Replace)+len(batch.Chunks) == 0 {
		return fail("write", ctx.Err())
	}
	chunks := lastOfEqual(batch.Chunks)
	ids := idsOf(chunks)
	group, ctx := errgroup.WithContext(ctx)
	ready := make(chan part, 1)
	group.Go(func() error {
		defer close(ready)
		for size := firstPart; len(chunks) > 0; size = min(2*size, maxPart) {
			next := chunks[:min(size, len(chunks))]
			chunks = chunks[len(next):]
			select {
			case ready <- w.s.analyze(next):
			case <-ctx.Done():
				return nil // the other says why
			}
		}
		return nil
	})
	group.Go(func() error {
		err := w.change(ctx, batch, func(ctx context.Context) error { return w.remove(ctx, batch.Replace, ids) })
		if err != nil {
			return err
		}
		for part := range ready {
			if err := w.change(ctx, &backend.Batch{}, func(ctx context.Context) error { return w.put(ctx, part) }); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// analyzed is a chunk with its terms.
type analyzed struct {
	source *backend.Chunk
	fields []textplan.Field // as source.Fields
}

// minAnalyzed is how many chunks a goroutine analyzes at least.
const minAnalyzed = 8

// lastOfEqual keeps the last of chunks with equal IDs.
func lastOfEqual(chunks []backend.Chunk) []analyzed {
	last := make(map[sheaf.ID]int, len(chunks))
	for i := range chunks {
		last[chunks[i].ID] = i
	}
	out := make([]analyzed, 0, len(last))
	for i := range chunks {
		if c := &chunks[i]; last[c.ID] == i {
			out = append(out, analyzed{source: c})
		}
	}
	return out
}

func idsOf(chunks []analyzed) []sheaf.ID {
	ids := make([]sheaf.ID, len(chunks))
	for i := range chunks {
		ids[i] = chunks[i].source.ID
	}
	return ids
}

// part is chunks that are written together.
type part struct {
	chunks []analyzed
	// terms are those of the chunks, each once; numbers is the place in it of each
	// posting's, in the order of chunks, fields and postings.
	terms   []string
	numbers []int32
}

// analyze gives chunks their terms.
func (s *Store) analyze(chunks []analyzed) part {
	var group errgroup.Group
	for some := range slices.Chunk(chunks, max(minAnalyzed, (len(chunks)-1)/runtime.GOMAXPROCS(0)+1)) {
		group.Go(func() error {
			for i := range some {
				some[i].fields = make([]textplan.Field, len(some[i].source.Fields))
				for j, f := range some[i].source.Fields {
					some[i].fields[j] = s.written.Analyze(f.Text)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // nothing can fail
	return number(chunks)
}

// number numbers the terms of chunks.
func number(chunks []analyzed) part {
	out := part{chunks: chunks}
	places := map[string]int32{}
	for i := range chunks {
		for _, f := range chunks[i].fields {
			for k := range f.Postings {
				term := f.Postings[k].Term
				at, ok := places[term]
				if !ok {
					at = int32(len(out.terms))
					places[term] = at
					out.terms = append(out.terms, term)
				}
				out.numbers = append(out.numbers, at)
			}
		}
	}
	return out
}
