//go:build !linux

package vfs

// Pins returns false. On this system the answer is unknown, or open files cannot be replaced.
func Pins(File) bool { return false }
