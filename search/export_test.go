package search

import "time"

// SetClock makes steps use another clock until the caller calls the function back.
func SetClock(now func() time.Time) (back func()) {
	before := clock
	clock = now
	return func() { clock = before }
}
