package main

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// What the system says, where its numbers are not those that package syscall knows.

// isTaken reports whether another program listens at an address.
func isTaken(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }

// isForbidden reports whether the system refuses to let this user listen at an address. Windows can reserve whole
// ranges of ports.
func isForbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, windows.WSAEACCES)
}

// isUnread reports whether what is written was to be read by a program that has ended.
func isUnread(err error) bool {
	return errors.Is(err, windows.ERROR_NO_DATA) || errors.Is(err, windows.ERROR_BROKEN_PIPE)
}
