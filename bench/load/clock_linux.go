package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// processorClock returns a function that reads the processor time of a process to the nanosecond; pid 0 is this
// process.
func processorClock(pid int) (func() time.Duration, error) {
	id := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != 0 {
		const scheduled = 2 // the clock of a process that counts its scheduled time
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
		t, _ := read() // fails only when the process ended, and then no request is answered
		return t
	}, nil
}

// stolen returns how much processor time the host of a virtual machine has given to others since the start, while
// the machine had work. It returns false when that is unknown.
func stolen() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	return stolenOf(text)
}

// stolenOf reads that time from the first line of /proc/stat, in hundredths of a second.
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
