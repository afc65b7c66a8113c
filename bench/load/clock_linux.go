package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
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

// stolen is how much time of all its processors a virtual machine did not have since it
// began, while it had work for them: its host gave it to others. False says that this
// is not known.
func stolen() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	return stolenOf(text)
}

// stolenOf reads that in what /proc/stat says, in its first line, in hundredths of a second.
func stolenOf(stat []byte) (time.Duration, bool) {
	const column = 8 // after "cpu": user, nice, system, idle, iowait, irq, softirq, steal
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) <= column || string(fields[0]) != "cpu" {
		return 0, false
	}
	ticks, err := strconv.ParseInt(string(fields[column]), 10, 64)
	return time.Duration(ticks) * 10 * time.Millisecond, err == nil
}
