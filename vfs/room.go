package vfs

import (
	"errors"
	"syscall"
)

// NoSpace reports whether a file could not be written because it found no space: on
// its device, in its owner's share of that, or within the largest size of a file.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) || deviceFull(err)
}
