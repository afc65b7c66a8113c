//go:build !windows

package main

import (
	"errors"
	"io/fs"
	"syscall"
)

// isTaken reports whether another program listens at an address.
func isTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// isForbidden reports whether this user may not listen at an address.
func isForbidden(err error) bool { return errors.Is(err, fs.ErrPermission) }

// isUnread reports whether a write failed because the reading program ended.
func isUnread(err error) bool { return errors.Is(err, syscall.EPIPE) }
