package collection

import (
	"context"
	"fmt"
	"time"

	"sheaf"
	"sheaf/collection/access"
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

// settle waits until nothing that was accepted before concerns the documents of changes:
// tasks, and what the index does not have yet when a process begins, of which nobody
// knows what is there. Others have the turn of ctx meanwhile.
func (c *Collection) settle(ctx context.Context, changes []Change) error {
	EndTurn(ctx)
	for began := time.Now(); c.given.recovering.Load(); {
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
	return c.given.tasks.settle(ctx, changes)
}
