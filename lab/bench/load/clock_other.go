//go:build !linux

package main

import (
	"errors"
	"time"
)

func processorClock(int) (func() time.Duration, error) {
	return nil, errors.New("processor time is counted on Linux only")
}
