//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of this process. Other work on the machine disturbs it
// less than wall time.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
