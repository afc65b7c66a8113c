package collection

import (
	"context"
	"fmt"
	"time"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/intake"
)

// settleStep is many times what looking a document up takes.
const settleStep = 5 * time.Millisecond

// Settle makes the time of an answer that began at began tell nothing of what is
// kept from the caller: it waits for the next full step of some milliseconds. It
// returns at once for callers from whom nothing is kept. Doors call it where names
// of hidden documents are looked up: before they say that something was not found, or
// before every answer.
func Settle(ctx context.Context, grant access.Grant, began time.Time) {
	if grant.SeesAll() {
		return
	}
	select {
	case <-time.After(settleStep - time.Since(began)%settleStep):
	case <-ctx.Done():
	}
}

// settle waits for earlier tasks that change the same documents. After a start it also waits until
// the index has all documents that were accepted before.
func (c *Collection) settle(ctx context.Context, changes []Change) error {
	for began := time.Now(); c.given.recovering.Load(); {
		if c.given.damaged.Load() {
			return intake.ErrDamaged
		}
		if time.Since(began) > recoverPatience {
			return fmt.Errorf("%w: documents that were accepted before are being indexed: repeat this when the server is ready",
				sheaf.ErrUnavailable)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(recoverStep):
		}
	}
	return c.given.queue.waitForEarlier(ctx, changes)
}
