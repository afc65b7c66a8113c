//go:build !linux

package embedded_test

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }

// resident is not known here.
func resident() int64 { return 0 }
