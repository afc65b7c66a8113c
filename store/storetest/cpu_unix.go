//go:build unix

package storetest

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the processor time of this process, 0 when unknown. Other work on the machine
// disturbs it less than elapsed time, and it leaves out the servers' work.
func CPU() time.Duration {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
