package vfs

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isReplaced reports whether a file could not be opened because it was just being replaced.
func isReplaced(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }

// isRead reports whether a file could not be replaced, probably because another process was reading it.
func isRead(err error) bool { return isReplaced(err) || errors.Is(err, windows.ERROR_ACCESS_DENIED) }
