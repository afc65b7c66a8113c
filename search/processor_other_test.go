//go:build !linux

package search_test

import "time"

// processor is the time of day, where that of a processor is not to be had.
func processor() time.Time { return time.Now() }
