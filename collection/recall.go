package collection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/store"
)

// recallQueries is the number of sample queries for each vector field when recall is measured.
const recallQueries = 200

// Recall is the result of a measurement: how many of the nearest passages a search finds.
type Recall struct {
	At         time.Time      `json:"at,omitzero" doc:"When recall was measured; absent when it was not."`
	Generation uint64         `json:"generation,omitempty" doc:"The generation of the index that was measured."`
	Fields     []store.Recall `json:"fields" doc:"The recall of each vector field."`
	Measuring  bool           `json:"measuring" doc:"Whether a measurement runs now."`
	Error      string         `json:"error,omitempty" doc:"Why the measurement failed."`
}

// recallMeter measures the recall of the store in the background, one measurement at a time.
type recallMeter struct {
	mu      sync.Mutex
	last    Recall
	stop    context.CancelFunc
	running sync.WaitGroup
}

// MeasureRecall starts a measurement in the background, unless one runs already. It compares searches with brute force.
// Status shows the result. If the store cannot compare, the error is sheaf.ErrUnsupported.
func (c *Collection) MeasureRecall() error {
	meter, err := recallMeterOf(c.o.Backend)
	if err != nil {
		return err
	}
	m := &c.recall
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Measuring {
		return nil
	}
	if c.closed.Load() {
		return fmt.Errorf("%w: the collection is closed", sheaf.ErrUnavailable)
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop, m.last.Measuring = stop, true
	m.running.Go(func() {
		defer stop()
		view := c.o.Catalog.View()
		generation := view.Generation()
		view.Close()
		fields, err := meter.Recall(ctx, store.RecallOptions{Queries: recallQueries})
		m.mu.Lock()
		defer m.mu.Unlock()
		m.last = Recall{At: c.o.Now(), Generation: generation, Fields: orEmpty(fields)}
		if err != nil {
			m.last.Error = err.Error()
		}
	})
	return nil
}

// recallMeterOf returns the meter of a store. If the store cannot compare, the error is sheaf.ErrUnsupported.
func recallMeterOf(backend store.Backend) (store.RecallMeter, error) {
	meter, ok := backend.(store.RecallMeter)
	if !ok {
		return nil, fmt.Errorf("measure recall: %w: this store cannot compare its searches with brute force",
			sheaf.ErrUnsupported)
	}
	return meter, nil
}

// lastRecall returns the measurement that runs now, or else the last one, or nil if there was none.
func (m *recallMeter) lastRecall() *Recall {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.At.IsZero() && !m.last.Measuring {
		return nil
	}
	last := m.last
	last.Fields = orEmpty(last.Fields)
	return &last
}

// close cancels the measurement that runs, and waits for its end.
func (m *recallMeter) close() {
	m.mu.Lock()
	if m.stop != nil {
		m.stop()
	}
	m.mu.Unlock()
	m.running.Wait()
}

// Recall measures how many of the nearest passages a search finds, compared with brute force. If the index uses a
// model and the engine, it also compares with the original, unrounded vectors.
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
		x.Notice("cannot compute all vectors again with the model: %v", missing)
	}
	return list, err
}

// originals computes the vectors of every file again, without rounding. It yields the chunks with these vectors, and
// stores nothing. It skips given documents, and files that changed since they were indexed.
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

// yielder is a store that keeps nothing. It passes the chunks of each written document to a function.
type yielder struct {
	store.Backend // nil: no other method is called
	yield         func([]store.Chunk)
}

func (y yielder) Bulk(context.Context) (store.BulkWriter, error) { return y, nil }

func (y yielder) Add(_ context.Context, batch store.Batch) error {
	y.yield(batch.Chunks)
	return nil
}

func (yielder) Commit(context.Context) error { return nil }

func (yielder) Close() error { return nil }
