package collection

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sheaf"
	"sheaf/store"
)

// recallQueries is the number of queries that a measurement samples for each vector field.
const recallQueries = 200

// Recall is the last measurement of how many of the nearest passages a search finds.
type Recall struct {
	At         time.Time      `json:"at,omitzero" doc:"When recall was measured; absent when it was not."`
	Generation uint64         `json:"generation,omitempty" doc:"The generation of the index that was measured."`
	Fields     []store.Recall `json:"fields" doc:"The recall of each vector field."`
	Measuring  bool           `json:"measuring" doc:"Whether a measurement runs now."`
	Error      string         `json:"error,omitempty" doc:"Why the measurement failed."`
}

// recallMeter makes one measurement at a time in the background.
type recallMeter struct {
	mu      sync.Mutex
	last    Recall
	stop    context.CancelFunc
	running sync.WaitGroup
}

// MeasureRecall starts to compare searches with brute force, unless a measurement runs, and returns
// at once. Status has the result. A store that cannot compare returns sheaf.ErrUnsupported.
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

// recallMeterOf returns the meter of a store, or sheaf.ErrUnsupported.
func recallMeterOf(backend store.Backend) (store.RecallMeter, error) {
	meter, ok := backend.(store.RecallMeter)
	if !ok {
		return nil, fmt.Errorf("measure recall: %w: this store cannot compare its searches with brute force",
			sheaf.ErrUnsupported)
	}
	return meter, nil
}

// shown returns the last or running measurement, or nil.
func (m *recallMeter) shown() *Recall {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.At.IsZero() && !m.last.Measuring {
		return nil
	}
	last := m.last
	last.Fields = orEmpty(last.Fields)
	return &last
}

// close cancels a measurement and waits for its end.
func (m *recallMeter) close() {
	m.mu.Lock()
	if m.stop != nil {
		m.stop()
	}
	m.mu.Unlock()
	m.running.Wait()
}
