package collection

import (
	"context"
	"time"

	"sheaf/collection/access"
)

// settleStep is the unit of the times that Settle waits. Looking up a document takes far less time.
const settleStep = 5 * time.Millisecond

// Settle hides how long a lookup took, because the time may reveal whether a hidden document exists. It waits until the
// time since began is a multiple of settleStep. For a caller who sees everything, Settle returns at once. Doors call
// Settle before they return an error about a missing document, or any result of a look-up of names.
func Settle(ctx context.Context, grant access.Grant, began time.Time) {
	if !grant.SeesAll() {
		_ = pause(ctx, settleStep-time.Since(began)%settleStep) // a caller who left needs no answer
	}
}

// MaxValues returns an upper bound for the number of values and names in a JSON text, valid or not. It counts the
// commas, colons and opening brackets outside strings, and adds 1.
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
