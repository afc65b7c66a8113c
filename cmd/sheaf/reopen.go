package main

import (
	"context"
	"errors"
	"time"

	"sheaf/ingest"
	"sheaf/serve"
)

// reopenStep is how long it takes at least from one opening to the next.
const reopenStep = time.Second

// reopening runs what opens the index and works until the command ends, and again when
// another process has made the index anew in another way meanwhile.
func (a *app) reopening(ctx context.Context, run func(again bool) error) error {
	for again := false; ; again = true {
		began := time.Now()
		err := run(again)
		if !errors.Is(err, ingest.ErrMadeAnew) || ctx.Err() != nil {
			return err
		}
		a.notice("%v: it is opened again", ingest.ErrMadeAnew)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reopenStep - time.Since(began)):
		}
	}
}

// untilAnew waits until a collection is to be opened again, or ctx ends.
func untilAnew(ctx context.Context, door *serve.Collection) error {
	select {
	case <-door.MadeAnew():
		return ingest.ErrMadeAnew
	case <-ctx.Done():
		return nil
	}
}
