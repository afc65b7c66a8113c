package main

import (
	"context"
	"errors"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/index/vfs"
	"sheaf/ingest"
)

// reopenStep is how long it takes at least from one opening to the next.
const reopenStep = time.Second

// errGrown says that an index is to be opened again because its language is another one now
// that there is more text.
var errGrown = errors.New("the language of the index is another one now")

// damagedRest is how long an index that was to be mended is served as it is: a disk may be at
// fault, or full.
const damagedRest = time.Minute

// refusedRest is how long an index that was served and cannot be opened again is left alone between two
// tries: somebody may have given its store to an index of other settings.
const refusedRest = 30 * time.Second

// reopening runs what opens the index and works until the command ends, and again when
// another process has made the index anew in another way meanwhile, it has grown out of
// its language, or it is damaged, which is mended when it is opened. When it is opened again
// it is waited for as long as that other process takes.
// The command works until it is told to end, so that ends it well, whatever it does then.
func (a *app) reopening(ctx context.Context, run func(o openOptions, again bool) error) error {
	o := openOptions{Updates: true, Make: true}
	for again := false; ; again = true {
		began := time.Now()
		err := run(o, again)
		anew := errors.Is(err, ingest.ErrRebuilt)
		busy := again && errors.Is(err, vfs.ErrLocked)
		damaged := errors.Is(err, vfs.ErrCorrupt) && time.Since(a.mended) >= damagedRest
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		var store collection.StoreError
		refused := again && err != nil && (errors.As(err, &store) || errors.Is(err, sheaf.ErrInvalid) ||
			errors.Is(err, sheaf.ErrUnavailable))
		if !anew && !busy && !damaged && !refused && !errors.Is(err, errGrown) || ctx.Err() != nil {
			return err
		}
		if refused && !anew && !busy && !damaged { // it was served before, and may be again
			a.notice("%v: it is tried again every %v", err, refusedRest)
			began = time.Now().Add(refusedRest - reopenStep)
		}
		if o.Damaged = damaged || busy && o.Damaged; damaged {
			a.mended = time.Now()
		}
		if anew {
			a.notice("%v: it is opened again", ingest.ErrRebuilt)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reopenStep - time.Since(began)):
		}
	}
}

// changing is an index that is open, as [collection.Collection] tells of it.
type changing interface {
	MadeAnew() <-chan struct{}
	Damaged() <-chan struct{}
	Damage() error
}

// untilAnew waits until a collection is to be opened again, or ctx ends. What is not damaged is
// served until the index can be mended.
func (s *session) untilAnew(ctx context.Context, door changing) error {
	damaged, rested := door.Damaged(), (<-chan time.Time)(nil)
	for {
		select {
		case <-door.MadeAnew():
			return ingest.ErrRebuilt
		case <-damaged:
			if damaged, rested = nil, s.app.rested(); !collection.Writable(s.Where.Dir) {
				s.notice("%v: it is made again once the index can be written", door.Damage())
			}
		case <-rested:
			if collection.Writable(s.Where.Dir) {
				return door.Damage()
			}
			rested = time.After(damagedRest)
		case <-s.Grown():
			return errGrown
		case <-ctx.Done():
			return nil
		}
	}
}

// rested tells when an index that is damaged may be mended again.
func (a *app) rested() <-chan time.Time { return time.After(damagedRest - time.Since(a.mended)) }
