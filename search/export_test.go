package search

import "time"

// SetClock has steps timed by another clock, until the function given back is called.
func SetClock(now func() time.Time) (back func()) {
	before := clock
	clock = now
	return func() { clock = before }
}
