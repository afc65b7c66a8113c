//go:build !race

package offheap

import "golang.org/x/sys/unix"

// remapped makes b n bytes long, perhaps at another address. It does not copy the bytes. If the system cannot do this,
// it returns false.
func remapped(b []byte, n int) ([]byte, bool) {
	larger, err := unix.Mremap(b, n, unix.MREMAP_MAYMOVE)
	return larger, err == nil
}
