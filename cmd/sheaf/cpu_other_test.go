//go:build !unix

package main

import "time"

// processorTime returns 0: the time is unknown on this system.
func processorTime() time.Duration { return 0 }
