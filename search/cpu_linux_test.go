package search_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is the time that this process has run on processors: other work
// on the machine disturbs it less than the time on the wall.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
