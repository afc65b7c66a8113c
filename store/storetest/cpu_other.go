//go:build !unix

package storetest

import "time"

// CPU returns 0: the processor time is unknown.
func CPU() time.Duration { return 0 }
