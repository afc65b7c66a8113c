//go:build !race

package offheap

import "golang.org/x/sys/unix"

// remapped is the memory of b at a place where it has n bytes: nothing is copied.
func remapped(b []byte, n int) ([]byte, bool) {
	larger, err := unix.Mremap(b, n, unix.MREMAP_MAYMOVE)
	return larger, err == nil
}
