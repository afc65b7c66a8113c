package main

import (
	"context"
	"errors"
	"time"

	"sheaf/ingest"
	"sheaf/serve"
	"sheaf/vfs"
)

// reopenStep is how long it takes at least from one opening to the next.
const reopenStep = time.Second

// errGrown says that an index is to be opened again because its language is another one now
// that there is more text.
var errGrown = errors.New("the language of the index is another one now")

// reopening runs what opens the index and works until the command ends, and again when
// another process has made the index anew in another way meanwhile, or it has grown out of
// its language. When it is opened again it is waited for as long as that other process takes.
// The command works until it is told to end, so that ends it well, whatever it does then.
func (a *app) reopening(ctx context.Context, run func(again bool) error) error {
	for again := false; ; again = true {
		began := time.Now()
		err := run(again)
		anew := errors.Is(err, ingest.ErrMadeAnew)
		busy := again && errors.Is(err, vfs.ErrLocked)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		if !anew && !busy && !errors.Is(err, errGrown) || ctx.Err() != nil {
			return err
		}
		if anew {
			a.notice("%v: it is opened again", ingest.ErrMadeAnew)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reopenStep - time.Since(began)):
		}
	}
}

// untilAnew waits until a collection is to be opened again, or ctx ends.
func (s *session) untilAnew(ctx context.Context, door *serve.Collection) error {
	select {
	case <-door.MadeAnew():
		return ingest.ErrMadeAnew
	case <-s.grows:
		return errGrown
	case <-ctx.Done():
		return nil
	}
}
