//go:build !race

package offheap

import "golang.org/x/sys/unix"

// remapped moves b to an address where it has n bytes. It does not copy the bytes.
func remapped(b []byte, n int) ([]byte, bool) {
	larger, err := unix.Mremap(b, n, unix.MREMAP_MAYMOVE)
	return larger, err == nil
}
