package main

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// Package syscall lacks some of these Windows error numbers.

// isTaken reports whether listening failed because another program listens at the address.
func isTaken(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }

// isForbidden reports whether listening failed because the system forbids the address. Windows may reserve port ranges.
func isForbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, windows.WSAEACCES)
}

// isUnread reports whether a write failed because the reader of the output has ended.
func isUnread(err error) bool {
	return errors.Is(err, windows.ERROR_NO_DATA) || errors.Is(err, windows.ERROR_BROKEN_PIPE)
}
