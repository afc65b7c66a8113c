package vfs

import (
	"errors"
	"io/fs"
	"syscall"
)

// NoSpace reports whether a file could not be written for lack of space: on its device, in its
// owner's quota, or within the largest size of a file.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) ||
		deviceFull(err)
}

// Forbidden reports whether a file could not be read or written for lack of rights: those of the
// file, of its folder, or of a read-only file system.
func Forbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// TooManyFiles reports whether a file could not be opened because too many files and connections
// are open; a later attempt may succeed.
func TooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
