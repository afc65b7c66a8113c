package vfs

import (
	"errors"
	"io/fs"
	"syscall"
)

// NoSpace reports whether writing a file failed for lack of space: on the device, in the owner's quota, or because the
// file reached the largest allowed size.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) ||
		deviceFull(err)
}

// Forbidden reports whether reading or writing a file failed for lack of rights: on the file, on its folder, or
// because the file system is read-only.
func Forbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// TooManyFiles reports whether opening a file failed because too many files and connections are open. A later attempt
// may succeed.
func TooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
