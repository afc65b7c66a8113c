package search_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// processor is a clock of the time that this process has had a processor for: what
// else runs on the machine does not move it.
func processor() time.Time {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Unix(t.Unix())
}
