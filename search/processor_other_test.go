//go:build !linux

package search_test

import "time"

// processor returns the time of day, because this system has no processor clock.
func processor() time.Time { return time.Now() }
