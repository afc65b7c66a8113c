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
	ready := make(chan []analyzed, 1)
	group.Go(func() error {
		defer close(ready)
		for size := firstPart; len(chunks) > 0; size = min(2*size, maxPart) {
			part := chunks[:min(size, len(chunks))]
			chunks = chunks[len(part):]
			w.s.analyze(part)
			select {
			case ready <- part:
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

// analyze gives chunks their terms.
func (s *Store) analyze(chunks []analyzed) {
	var group errgroup.Group
	for part := range slices.Chunk(chunks, max(minAnalyzed, (len(chunks)-1)/runtime.GOMAXPROCS(0)+1)) {
		group.Go(func() error {
			for i := range part {
				part[i].fields = make([]textplan.Field, len(part[i].source.Fields))
				for j, f := range part[i].source.Fields {
					part[i].fields[j] = s.written.Analyze(f.Text)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // nothing can fail
}
