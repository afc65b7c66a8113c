//go:build unix

package storetest

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the time that this process has run on processors, 0 where it is not known: a
// measure that other work on the machine disturbs less than the time on the wall, and
// that leaves out what servers do.
func CPU() time.Duration {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
