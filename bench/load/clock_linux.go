package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// processorClock reads the processor time of a process, 0 being this one, to the
// nanosecond.
func processorClock(pid int) (func() time.Duration, error) {
	id := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != 0 {
		const scheduled = 2 // of the clocks of a process, the one that counts what the scheduler gave it
		id = int32(^pid)<<3 | scheduled
	}
	read := func() (time.Duration, error) {
		var t unix.Timespec
		err := unix.ClockGettime(id, &t)
		return time.Duration(t.Nano()), err
	}
	if _, err := read(); err != nil {
		return nil, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return func() time.Duration {
		t, _ := read() // of a process that ended, after which no request is answered
		return t
	}, nil
}
