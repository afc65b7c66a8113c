//go:build unix && !aix && !race

package offheap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// plentyAddresses allows memory outside the heap. It is false on 32-bit machines, because there the heap may reuse an
// address of unmapped memory.
const plentyAddresses = unsafe.Sizeof(uintptr(0)) == 8

// mapped returns n new zero bytes outside the heap. ok is false if plentyAddresses is false, or if the system has no
// memory.
func mapped(n int) (b []byte, ok bool) {
	if !plentyAddresses {
		return nil, false
	}
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return b, err == nil
}

// unmap removes the mapping of b. If the system refuses because of its limit on mappings, unmap releases only the
// memory and keeps the addresses.
func unmap(b []byte) {
	switch err := unix.Munmap(b); err {
	case nil:
	case unix.ENOMEM:
		_ = unix.Madvise(b, unix.MADV_DONTNEED) // a hint
	default:
		panic(err) // not a mapping of this package
	}
}
