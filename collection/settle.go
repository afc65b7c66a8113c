package collection

import (
	"context"
	"time"

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
