//go:build !race

package offheap

import "golang.org/x/sys/unix"

// remapped moves b to an address with n bytes, without a copy.
func remapped(b []byte, n int) ([]byte, bool) {
	larger, err := unix.Mremap(b, n, unix.MREMAP_MAYMOVE)
	return larger, err == nil
}
