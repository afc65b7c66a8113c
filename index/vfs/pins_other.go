//go:build !linux

package vfs

// Pins reports whether f, while it is open, keeps its identity from every other file.
// On this system that is unknown, or an open file cannot be replaced.
func Pins(File) bool { return false }
