package vector_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time that this process has run on processors: a measure that other
// work on the machine disturbs less than the time on the wall.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
