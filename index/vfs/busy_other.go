//go:build !windows

package vfs

// isReplaced reports whether a file could not be opened because it was just
// being replaced, which is in the way of nothing here.
func isReplaced(error) bool { return false }

// isRead reports whether a file could not be replaced because somebody read it,
// which is in the way of nothing here.
func isRead(error) bool { return false }
