package vfs

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isReplaced reports whether opening a file failed because another file was just replacing it.
func isReplaced(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }

// isRead reports whether replacing a file failed, probably because another process was reading it.
func isRead(err error) bool { return isReplaced(err) || errors.Is(err, windows.ERROR_ACCESS_DENIED) }
