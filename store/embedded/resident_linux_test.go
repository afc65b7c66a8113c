package embedded_test

import (
	"bytes"
	"fmt"
	"os"
)

// resident returns the resident memory of this process in bytes, mapped files included.
func resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Fscan(bytes.NewReader(data), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
