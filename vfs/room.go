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

// TooManyFiles reports whether a file could not be opened because too many are open, connections
// among them: another time it can be.
func TooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
