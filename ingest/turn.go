package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
	"sheaf/index/vfs"
)

// Turn lets the goroutines of one process write one after another, where the
// catalog's lock, which is for processes, would refuse all but the first.
type Turn struct{ free chan struct{} }

// NewTurn makes a turn that nobody has taken.
func NewTurn() *Turn { return &Turn{free: make(chan struct{}, 1)} }

// Take waits until it is the caller's turn; a context that ends first is
// sheaf.ErrUnavailable. A nil Turn is always the caller's.
func (t *Turn) Take(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case t.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: the index is being written: %w", sheaf.ErrUnavailable, ctx.Err())
	}
}

// Give lets the next one have it.
func (t *Turn) Give() {
	if t != nil {
		<-t.free
	}
}

// lockStep is how often it is looked whether another process still writes.
const lockStep = 20 * time.Millisecond

// hold takes the turn and the catalog's lock, which another process may have for a while.
func (o *Options) hold(ctx context.Context, patience time.Duration) (release func() error, err error) {
	if err := o.Turn.Take(ctx); err != nil {
		return nil, err
	}
	unlock, err := o.Catalog.Hold()
	for began := time.Now(); errors.Is(err, vfs.ErrLocked) && time.Since(began) < patience && ctx.Err() == nil; unlock, err = o.Catalog.Hold() {
		select {
		case <-ctx.Done():
		case <-time.After(lockStep):
		}
	}
	if err != nil {
		o.Turn.Give()
		return nil, err
	}
	return func() error {
		err := unlock()
		o.Turn.Give()
		return err
	}, nil
}
