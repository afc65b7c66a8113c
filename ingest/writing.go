package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
	"sheaf/index/vfs"
)

// Writing is the mutex for the writers in a process. The catalog's lock excludes only other processes.
type Writing struct{ free chan struct{} }

// NewWriting returns an unlocked mutex.
func NewWriting() *Writing { return &Writing{free: make(chan struct{}, 1)} }

// Lock waits until the caller may write. If ctx ends, the error is sheaf.ErrUnavailable. A nil Writing never waits.
func (w *Writing) Lock(ctx context.Context) error {
	if w == nil {
		return nil
	}
	select {
	case w.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: the index is being written: %w", sheaf.ErrUnavailable, ctx.Err())
	}
}

// Unlock lets the next writer continue.
func (w *Writing) Unlock() {
	if w != nil {
		<-w.free
	}
}

// lockStep is the pause between two attempts to get a lock that another process holds.
const lockStep = 20 * time.Millisecond

// lock locks Writing and then the catalog. It waits for another process at most for the time patience.
func (o *Options) lock(ctx context.Context, patience time.Duration) (unlock func() error, err error) {
	if err := o.Writing.Lock(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	unlockCatalog, err := o.Catalog.Hold()
	for errors.Is(err, vfs.ErrLocked) && time.Since(began) < patience && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(lockStep):
		}
		unlockCatalog, err = o.Catalog.Hold()
	}
	if err != nil {
		o.Writing.Unlock()
		return nil, err
	}
	return func() error {
		err := unlockCatalog()
		o.Writing.Unlock()
		return err
	}, nil
}
