package embedded_test

import (
	"bytes"
	"fmt"
	"os"
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

// resident is the memory of this process that is there, in bytes, mapped files
// included.
func resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Fscan(bytes.NewReader(data), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
