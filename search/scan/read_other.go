//go:build !unix

package scan

import (
	"errors"
	"io"
	"os"
)

// readInto reads a file of about size bytes, into buffer when it is large enough.
func readInto(buffer []byte, name string, size int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buffer = roomFor(buffer, size)
	n := 0
	for {
		m, err := f.Read(buffer[n:])
		n += m
		switch {
		case errors.Is(err, io.EOF):
			return buffer[:n], nil
		case err != nil:
			return nil, err
		case n > maxRead:
			return nil, errTooLarge
		case n == len(buffer):
			buffer = append(buffer, make([]byte, len(buffer))...)
		}
	}
}
