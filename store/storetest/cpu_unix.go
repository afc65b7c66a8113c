//go:build unix

package storetest

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the processor time that this process has used, or 0 if it is unknown. It does not include the work of
// servers. Other programs disturb it less than they disturb elapsed time.
func CPU() time.Duration {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
