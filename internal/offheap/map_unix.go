//go:build unix && !aix && !race

package offheap

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// plenty says that addresses are plenty: on a machine of 32 bits memory of the heap may
// come to lie where this one lay.
const plenty = unsafe.Sizeof(uintptr(0)) == 8

// mapped returns n new bytes of memory, all zero; false when the system has none.
func mapped(n int) ([]byte, bool) {
	if !plenty {
		return nil, false
	}
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return b, err == nil
}

// unmap gives b back, or at least its memory where that would make more mappings than
// the system allows.
func unmap(b []byte) {
	switch err := unix.Munmap(b); err {
	case nil:
	case unix.ENOMEM:
		forget(b)
	default:
		panic(err) // it is not what was mapped
	}
}

// forget gives the memory of b back, which then is zeros; its addresses stay taken.
func forget(b []byte) {
	if runtime.GOOS != "linux" || unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		clear(b) // elsewhere that is a hint, which may leave what is there
	}
}
