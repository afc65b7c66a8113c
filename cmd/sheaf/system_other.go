//go:build !windows

package main

import (
	"errors"
	"io/fs"
	"syscall"
)

// isTaken reports whether listening failed because another program listens at the address.
func isTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// isForbidden reports whether listening failed because this user may not listen at the address.
func isForbidden(err error) bool { return errors.Is(err, fs.ErrPermission) }

// isUnread reports whether a write failed because the reader of the output has ended.
func isUnread(err error) bool { return errors.Is(err, syscall.EPIPE) }
