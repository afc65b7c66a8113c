package catalog

import (
	"syscall"

	"sheaf/index/vfs"
)

// matches reports whether a file has the recorded size and time.
func (f *FileState) matches(source vfs.FS, name string) bool {
	if _, ok := source.(vfs.Disk); !ok {
		return f.describes(source, name)
	}
	// As os.Stat does, but without allocating a description of the file.
	for {
		var st syscall.Stat_t
		err := syscall.Stat(name, &st)
		if err != syscall.EINTR {
			return err == nil && st.Size == f.Size && st.Mtim.Nano() == f.ModTime
		}
	}
}
