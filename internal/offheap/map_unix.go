//go:build unix && !aix && !race

package offheap

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// plenty says that addresses are not scarce. On 32-bit machines they are: the heap may reuse an address of unmapped
// memory.
const plenty = unsafe.Sizeof(uintptr(0)) == 8

// mapped returns n new zero bytes, or false if the system has no memory left.
func mapped(n int) ([]byte, bool) {
	if !plenty {
		return nil, false
	}
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return b, err == nil
}

// unmap removes the mapping of b. If that would exceed the system's number of mappings, it releases only the memory of
// b and keeps the addresses.
func unmap(b []byte) {
	switch err := unix.Munmap(b); err {
	case nil:
	case unix.ENOMEM:
		forget(b)
	default:
		panic(err) // not a mapping of this package
	}
}

// forget releases the memory of b and keeps its addresses. After that, all bytes are zero.
func forget(b []byte) {
	if runtime.GOOS != "linux" || unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		clear(b) // other systems treat the call as a hint and may keep the bytes
	}
}
