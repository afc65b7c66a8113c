//go:build !unix

package storetest

import "time"

// CPU is the time that this process has run on processors, 0 where it is not known.
func CPU() time.Duration { return 0 }
