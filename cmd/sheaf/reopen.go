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

// reopenStep is the minimum time between two openings of the index.
const reopenStep = time.Second

// errGrown asks the caller to reopen the index, because most text of the index is now in another language.
var errGrown = errors.New("the language of the index changed")

// damagedRest is the minimum time between two repairs of an index. A repair may fail again and again, for example on a
// full disk. Until the next repair, the server answers from the intact parts.
const damagedRest = time.Minute

// refusedRest is the time between two attempts to open an index again. An attempt can fail, for example because another
// index now uses the store of this index.
const refusedRest = 30 * time.Second

// reopening calls the function run, which opens the index with the options o and works until ctx ends. reopening calls
// run again when run returns one of these errors:
//   - another process rebuilt the index
//   - the language of the text changed
//   - damage needs repair
//   - in a later call, a store or another process prevented the opening
//
// reopening returns any other error. When ctx ends, it returns nil.
func (a *app) reopening(ctx context.Context, run func(o openOptions) error) error {
	o := openOptions{Updates: true, Make: true}
	for again := false; ; again = true {
		began := time.Now()
		err := run(o)
		remade := errors.Is(err, ingest.ErrRebuilt)
		busy := again && errors.Is(err, vfs.ErrLocked)
		damaged := errors.Is(err, vfs.ErrCorrupt) && time.Since(a.lastRepair) >= damagedRest
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		var store collection.StoreError
		refused := again && err != nil && (errors.As(err, &store) || errors.Is(err, sheaf.ErrInvalid) ||
			errors.Is(err, sheaf.ErrUnavailable))
		if !remade && !busy && !damaged && !refused && !errors.Is(err, errGrown) || ctx.Err() != nil {
			return err
		}
		if refused && !remade && !busy && !damaged { // the store worked before and may work again
			a.notice("%v: it is tried again every %v", err, refusedRest)
			began = time.Now().Add(refusedRest - reopenStep)
		}
		if o.Damaged = damaged || busy && o.Damaged; damaged {
			a.lastRepair = time.Now()
		}
		if remade {
			a.notice("%v: it is opened again", ingest.ErrRebuilt)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reopenStep - time.Since(began)):
		}
	}
}

// eventSource reports that an open index was remade or is damaged. [collection.Collection] implements it.
type eventSource interface {
	Replaced() <-chan struct{}
	Damaged() <-chan struct{}
	Damage() error
}

// untilReplaced waits until the index was remade, needs a repair, or should have another language. It returns an error
// with this reason, so that the caller opens the index again. While a damaged index cannot be repaired yet,
// untilReplaced keeps waiting. When ctx ends, it returns nil.
func (s *session) untilReplaced(ctx context.Context, door eventSource) error {
	damaged, rested := door.Damaged(), (<-chan time.Time)(nil)
	for {
		select {
		case <-door.Replaced():
			return ingest.ErrRebuilt
		case <-damaged:
			if damaged, rested = nil, s.app.nextRepair(); !collection.Writable(s.Where.Dir) {
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

// nextRepair returns a channel that receives a value when the next repair is allowed.
func (a *app) nextRepair() <-chan time.Time {
	return time.After(damagedRest - time.Since(a.lastRepair))
}
