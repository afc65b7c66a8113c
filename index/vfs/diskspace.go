package vfs

import (
	"errors"
	"io/fs"
	"syscall"
)

// NoSpace reports whether writing failed for lack of space: on the device, in a quota, or beyond a maximum size.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) ||
		deviceFull(err)
}

// Forbidden reports whether reading or writing failed for lack of rights, or on a read-only file system.
func Forbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// TooManyFiles reports whether opening a file failed because too many files and connections are open. A retry may help.
func TooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
