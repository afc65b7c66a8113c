//go:build amd64 || arm64

package catalog

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"sheaf/index/vfs"
)

// unchanged is matches of the source file. Every answer asks it of ten: as syscall.Stat
// does, which copies each name to put a zero byte behind it.
func (t *sourceText) unchanged(source vfs.FS) bool {
	if _, ok := source.(vfs.Disk); !ok {
		return t.file.describes(source, t.name)
	}
	for {
		var st syscall.Stat_t
		here := unix.AT_FDCWD
		_, _, err := syscall.Syscall6(unix.SYS_NEWFSTATAT, uintptr(here), uintptr(unsafe.Pointer(unsafe.StringData(t.name))), uintptr(unsafe.Pointer(&st)), 0, 0, 0)
		if err != syscall.EINTR {
			return err == 0 && st.Size == t.file.Size && st.Mtim.Nano() == t.file.ModTime
		}
	}
}
