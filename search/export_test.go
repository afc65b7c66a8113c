package search

import "time"

// SetClock makes steps use another clock until the returned function is called.
func SetClock(now func() time.Time) (back func()) {
	before := clock
	clock = now
	return func() { clock = before }
}
