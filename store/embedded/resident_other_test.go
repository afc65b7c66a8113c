//go:build !linux

package embedded_test

// resident is not known here.
func resident() int64 { return 0 }
