package scan

import (
	"errors"
	"io"
	"os"
)

// readInto reads a file of about size bytes, in buffer when it is large enough.
func readInto(buffer []byte, name string, size int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// One byte more than expected: a file of just that size ends with the
	// first read.
	if cap(buffer) <= size {
		buffer = make([]byte, size+size/4+512)
	}
	buffer = buffer[:cap(buffer)]
	n := 0
	for {
		m, err := f.Read(buffer[n:])
		n += m
		switch {
		case errors.Is(err, io.EOF):
			return buffer[:n], nil
		case err != nil:
			return nil, err
		case n > ingestLimit:
			return nil, errTooLarge
		case n == len(buffer):
			buffer = append(buffer, make([]byte, len(buffer))...)
		}
	}
}

// ingestLimit bounds a file that grows while it is read.
const ingestLimit = 64 << 20

var errTooLarge = errors.New("the file grew while it was read")
