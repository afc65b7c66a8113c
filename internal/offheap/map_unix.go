//go:build unix && !aix && !race

package offheap

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// beside says that addresses are plenty: on a machine of 32 bits memory of the heap may
// come to lie where this one lay.
const beside = unsafe.Sizeof(uintptr(0)) == 8

// mapped is n bytes of memory that nobody else has, zeros; false when there are none.
func mapped(n int) ([]byte, bool) {
	if !beside {
		return nil, false
	}
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return b, err == nil
}

func unmap(b []byte) {
	if err := unix.Munmap(b); err != nil {
		panic(err) // it is not what was mapped
	}
}
