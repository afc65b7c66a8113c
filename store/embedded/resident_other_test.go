//go:build !linux

package embedded_test

// resident returns 0: the resident memory is unknown.
func resident() int64 { return 0 }
