//go:build unix

package embedded_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time that this process has run on processors: a measure that other
// work on the machine disturbs less than the time on the wall.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
