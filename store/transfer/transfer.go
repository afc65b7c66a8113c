// Package transfer copies one store into another. [Copy] streams: its memory does not grow with the store.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sheaf"
	"sheaf/store"
)

// Options are the options of Copy.
type Options struct {
	// Cursor is the last cursor that an earlier copy passed to Progress. "" starts from the beginning.
	Cursor string
	// Progress receives, after every batch, the number of chunks since Cursor and the cursor after them. These chunks
	// are durable. If Progress returns an error, the copy ends. Progress may be nil.
	Progress func(chunks int, cursor string) error
}

// batchBytes is roughly the largest size of a batch in bytes, text and vectors. batchChunks is the largest number of
// chunks in a batch.
const (
	batchBytes  = 16 << 20
	batchChunks = 5000
)

// Copy writes every chunk of one store to another store and returns the number of chunks. A chunk may be written
// twice without harm, so an interrupted copy can restart at any earlier cursor. If the other store rejects documents,
// Copy copies the rest and then returns a store.PartialError that names the rejected documents.
func Copy(ctx context.Context, from store.Streamer, to store.Backend, o Options) (int, error) {
	c := copyRun{to: to, o: o, rejected: map[sheaf.ID]error{}}
	err := from.Stream(ctx, o.Cursor, func(chunks []store.Chunk, cursor string) error {
		for i := range chunks {
			c.size += size(&chunks[i])
		}
		c.batch, c.cursor = append(c.batch, chunks...), cursor
		if c.size < batchBytes && len(c.batch) < batchChunks {
			return nil
		}
		return c.flush(ctx)
	})
	if err == nil {
		err = c.flush(ctx)
	}
	if err == nil && len(c.rejected) > 0 {
		err = &store.PartialError{Rejected: c.rejected}
	}
	return c.copied, err
}

type copyRun struct {
	to       store.Backend
	o        Options
	batch    []store.Chunk
	size     int
	cursor   string
	copied   int
	rejected map[sheaf.ID]error
}

func (c *copyRun) flush(ctx context.Context) error {
	if len(c.batch) == 0 {
		return nil
	}
	var partial *store.PartialError
	if err := c.to.Write(ctx, store.Batch{Chunks: c.batch}); errors.As(err, &partial) {
		maps.Copy(c.rejected, partial.Rejected)
	} else if err != nil {
		return err
	}
	for i := range c.batch {
		if c.rejected[c.batch[i].Doc] == nil {
			c.copied++
		}
	}
	clear(c.batch)
	c.batch, c.size = c.batch[:0], 0
	if c.o.Progress == nil {
		return nil
	}
	return c.o.Progress(c.copied, c.cursor)
}

func size(c *store.Chunk) int {
	n := 100
	for _, f := range c.Fields {
		n += len(f.Text)
	}
	for _, v := range c.Vectors {
		for _, p := range v.Passages {
			n += 4 * len(p)
		}
	}
	return n
}

// Verify compares the numbers of chunks in both stores. Then it looks up chunks from all parts of the first store in
// the second, by ID and by vector. sample is roughly how many chunks it takes. It returns the number of compared
// chunks. If the stores differ, Verify fails with sheaf.ErrCorrupt.
func Verify(ctx context.Context, from store.Streamer, to store.Backend, sample int) (int, error) {
	counts := [2]int{-1, -1}
	for i, st := range []any{from, to} {
		if r, ok := st.(store.Reporter); ok {
			stats, err := r.Stats(ctx)
			if err != nil {
				return 0, err
			}
			counts[i] = stats.Chunks
		}
	}
	if counts[0] >= 0 && counts[1] >= 0 && counts[0] != counts[1] {
		return 0, fmt.Errorf("%w: %d chunks were copied from a store of %d", sheaf.ErrCorrupt, counts[1], counts[0])
	}
	step, at := max(1, counts[0]/max(sample, 1)), 0
	compared := 0
	err := from.Stream(ctx, "", func(chunks []store.Chunk, _ string) error {
		var picked []store.Chunk
		for i := range chunks {
			if at++; at%step == 0 {
				picked = append(picked, chunks[i])
			}
		}
		compared += len(picked)
		return compare(ctx, to, picked)
	})
	return compared, err
}

// compare checks that the second store, to, has the picked chunks. It searches for the chunks by ID, then by their
// first vectors. If a chunk is missing, or has another vector, the error wraps sheaf.ErrCorrupt.
func compare(ctx context.Context, to store.Backend, picked []store.Chunk) error {
	if len(picked) == 0 {
		return nil
	}
	ids := make([]sheaf.ID, len(picked))
	for i := range picked {
		ids[i] = picked[i].ID
	}
	found, err := to.Retrieve(ctx, store.Request{Within: ids, Limit: len(ids), Text: &store.TextRequest{
		Query: sheaf.Bool{}, Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}, K1: store.DefaultK1,
		B: store.DefaultB}})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(found, func(h sheaf.Hit) bool { return h.ID == id }) {
			return fmt.Errorf("%w: chunk %s is not in the copy", sheaf.ErrCorrupt, id)
		}
	}
	for i := range picked {
		if len(picked[i].Vectors) == 0 {
			continue
		}
		v := picked[i].Vectors[0]
		near, err := to.Retrieve(ctx, store.Request{Within: ids[i : i+1], Limit: 1,
			Vector: &store.VectorRequest{Field: v.Name, Vector: v.Passages[0]}})
		if err != nil {
			return err
		}
		if len(near) != 1 || near[0].Score < 0.99 {
			return fmt.Errorf("%w: chunk %s has other vectors in the copy: %v", sheaf.ErrCorrupt, ids[i], near)
		}
	}
	return nil
}
