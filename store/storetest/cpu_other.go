//go:build !unix

package storetest

import "time"

// CPU returns 0, because the processor time is unknown on this system.
func CPU() time.Duration { return 0 }
