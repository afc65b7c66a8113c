//go:build unix

package search_test

import (
	"syscall"
	"time"
)

// processorTime is the time that this process has run on processors: other work
// on the machine disturbs it less than the time on the wall.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
