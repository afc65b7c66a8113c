package collection

import (
	"context"
	"errors"
	"os"
	"sync"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/store"
)

// Recall measures the share of brute-force results that searches find. With a model and the engine it also compares
// them with the vectors as the model makes them, before the engine rounds them.
func (x *Index) Recall(ctx context.Context, progress func(done, total int)) ([]store.Recall, error) {
	meter, err := recallMeterOf(x.Backend)
	if err != nil {
		return nil, err
	}
	o := store.RecallOptions{Queries: recallQueries, Progress: progress}
	var missing error
	if x.Embedder != nil && x.Target == nil {
		o.Originals = func(ctx context.Context, yield func([]store.Chunk)) error {
			missing = x.originals(ctx, yield)
			return ctx.Err()
		}
	}
	list, err := meter.Recall(ctx, o)
	if missing != nil && err == nil {
		x.Notice("the vectors as the model makes them could not all be had: %v", missing)
	}
	return list, err
}

// originals computes the vectors of every file again and yields the chunks with them. It stores
// nothing. It skips given documents and files that changed since they were indexed.
func (x *Index) originals(ctx context.Context, yield func([]store.Chunk)) error {
	release, err := location.Lock(x.Where.Dir) // concurrent writes to the vector cache get lost
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
	o := x.IngestOptions()
	var one sync.Mutex // documents are written in parallel and yielded one at a time
	o.Catalog, o.Backend = scratch, yielder{yield: func(chunks []store.Chunk) {
		if len(chunks) > 0 && x.View.Unchanged(chunks[0].Doc) {
			one.Lock()
			defer one.Unlock()
			yield(chunks)
		}
	}}
	report, err := ingest.Run(ctx, o)
	if err == nil && report.EmbedError != "" {
		err = errors.New(report.EmbedError)
	}
	return err
}

// yielder is a store that stores nothing. It yields the written chunks of one document at a time.
type yielder struct {
	store.Backend // nil: no other method is called
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
