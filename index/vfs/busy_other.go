//go:build !windows

package vfs

// isReplaced returns false, because on this system a file can be opened while another replaces it.
func isReplaced(error) bool { return false }

// isRead returns false, because on this system a file can be replaced while it is read.
func isRead(error) bool { return false }
