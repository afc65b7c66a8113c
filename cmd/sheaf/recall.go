package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/store"
)

// recallQueries is how many queries status --recall samples for each vector field:
// at 100 neighbors each, one in 20,000 makes a difference that is printed.
const recallQueries = 200

// recall measures how much of what brute force finds is found.
func (s *session) recall(ctx context.Context) ([]store.Recall, error) {
	meter, ok := s.Backend.(store.RecallMeter)
	if !ok {
		return nil, fmt.Errorf("measure recall: %w: this store cannot compare its searches with brute force",
			sheaf.ErrUnsupported)
	}
	progress := terminal.NewProgress(s.err, "measuring")
	o := store.RecallOptions{Queries: recallQueries, Progress: func(done, total int) {
		progress.Update(done, total, int64(done), "steps")
	}}
	var missing error
	if s.Embedder != nil && s.Target == nil {
		o.Originals = func(ctx context.Context, yield func([]store.Chunk)) error {
			missing = s.originals(ctx, yield)
			return ctx.Err()
		}
	}
	list, err := meter.Recall(ctx, o)
	progress.Done()
	if missing != nil && err == nil {
		s.notice("the vectors as the model makes them could not all be had: %v", missing)
	}
	return list, err
}

// originals makes the vectors of every file again, as the model makes them, and
// yields the chunks with them; nothing is kept. What was given as a text is not
// among them, nor what has changed since it was indexed.
func (s *session) originals(ctx context.Context, yield func([]store.Chunk)) error {
	release, err := location.Lock(s.Where.Dir) // what two write at once into the memory of vectors is lost
	if err != nil {
		return err
	}
	defer release()
	dir, err := os.MkdirTemp("", "sheaf-recall-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	scratch, err := catalog.Open(vfs.Disk{}, dir, catalog.Options{})
	if err != nil {
		return err
	}
	defer scratch.Close()
	o := s.IngestOptions()
	var one sync.Mutex // documents are written side by side, and yielded one after another
	o.Catalog, o.Backend = scratch, yielder{yield: func(chunks []store.Chunk) {
		if len(chunks) > 0 && s.View.Unchanged(chunks[0].Doc) {
			one.Lock()
			defer one.Unlock()
			yield(chunks)
		}
	}}
	report, err := ingest.Run(ctx, o)
	if err == nil && report.EmbedError != "" {
		err = fmt.Errorf("%s", report.EmbedError)
	}
	return err
}

// yielder is a store that keeps nothing: it shows what is written to it, chunks of one
// document at a time.
type yielder struct {
	store.Backend // none: nothing is asked of it
	yield         func([]store.Chunk)
}

// Write implements [store.Backend].
func (y yielder) Write(ctx context.Context, batch store.Batch) error { return y.Add(ctx, batch) }

// Delete implements [store.Backend].
func (yielder) Delete(context.Context, []sheaf.ID) error { return nil }

// Bulk implements [store.Bulk].
func (y yielder) Bulk(context.Context) (store.BulkWriter, error) { return y, nil }

// Add implements [store.BulkWriter].
func (y yielder) Add(_ context.Context, batch store.Batch) error {
	y.yield(batch.Chunks)
	return nil
}

// Commit implements [store.BulkWriter].
func (yielder) Commit(context.Context) error { return nil }

// Close implements [store.Backend] and [store.BulkWriter].
func (yielder) Close() error { return nil }

// recallRows are the lines of the table of status.
func recallRows(list []store.Recall) [][]string {
	rows := [][]string{}
	if len(list) == 0 {
		rows = append(rows, []string{"recall", "no vectors"})
	}
	for _, r := range list {
		text := fmt.Sprintf("%.4f at 10, %.4f at 100, of %s with %d dimensions; %.2f ms, comparing all of them takes %.2f ms",
			r.At10, r.At100, wording.Plural(r.Passages, "vector", "vectors"), r.Dims, r.SearchMillis, r.BruteForceMillis)
		if r.Exhaustive {
			text = fmt.Sprintf("all: the %s are all compared, in %.2f ms", wording.Plural(r.Passages, "vector", "vectors"),
				r.SearchMillis)
		}
		if r.Originals > 0 {
			text += fmt.Sprintf("; %.4f and %.4f of what float32 finds in %s", r.Float10, r.Float100,
				wording.Plural(r.Originals, "chunk", "chunks"))
		}
		rows = append(rows, []string{"recall, " + wording.Clean(r.Field), text})
	}
	return rows
}
