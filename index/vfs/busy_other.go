//go:build !windows

package vfs

// isReplaced returns false: on this system a replacement does not prevent opening a file.
func isReplaced(error) bool { return false }

// isRead returns false: on this system a reader does not prevent replacing a file.
func isRead(error) bool { return false }
