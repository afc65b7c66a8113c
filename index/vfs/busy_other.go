//go:build !windows

package vfs

// isReplaced returns false. On this system a file can be opened while another file replaces it.
func isReplaced(error) bool { return false }

// isRead returns false. On this system a file can be replaced while it is being read.
func isRead(error) bool { return false }
