package main

import (
	"context"
	"io"
)

// awaited is standard input that an interruption ends. A signal that the process handles does not end a read,
// which may last for ever.
type awaited struct {
	ctx  context.Context
	from io.Reader
}

// Read implements [io.Reader]. After an interruption, what comes still is lost.
func (a awaited) Read(p []byte) (int, error) {
	type read struct {
		n   int
		err error
	}
	// The reader may fill its buffer long after p is somebody else's.
	buffer, done := make([]byte, len(p)), make(chan read, 1)
	go func() {
		n, err := a.from.Read(buffer)
		done <- read{n, err}
	}()
	select {
	case <-a.ctx.Done():
		return 0, a.ctx.Err()
	case r := <-done:
		return copy(p, buffer[:r.n]), r.err
	}
}
