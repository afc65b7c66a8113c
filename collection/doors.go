package collection

import (
	"context"
	"time"

	"sheaf/collection/access"
)

// settleStep is many times longer than looking up a document.
const settleStep = 5 * time.Millisecond

// Settle hides how long a lookup took: it waits for the next multiple of some milliseconds after
// began. For callers that see everything, it returns at once. Doors call it where names of hidden
// documents are looked up: before an error about a missing document, or before every answer.
func Settle(ctx context.Context, grant access.Grant, began time.Time) {
	if grant.SeesAll() {
		return
	}
	select {
	case <-time.After(settleStep - time.Since(began)%settleStep):
	case <-ctx.Done():
	}
}

// MaxValues returns an upper bound of the values and names in a JSON text. It counts brackets and
// commas, and works for invalid JSON too.
func MaxValues(text []byte) int64 {
	n := int64(1)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',', ':', '[', '{':
			n++
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}
