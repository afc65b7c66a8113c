package vector_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time of this process. Other work on the machine disturbs it less
// than elapsed time.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
