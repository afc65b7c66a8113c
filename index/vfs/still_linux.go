package vfs

import (
	"io/fs"
	"syscall"
)

// Still reports whether name leads to the file that info describes, with unchanged size and time. Every search calls
// Still, so it does not allocate a new description of the file.
func Still(fsys FS, name string, info fs.FileInfo) (bool, error) {
	known, ok := info.Sys().(*syscall.Stat_t)
	if _, disk := fsys.(Disk); !disk || !ok {
		return still(fsys, name, info)
	}
	for {
		var now syscall.Stat_t
		switch err := syscall.Stat(name, &now); err {
		case nil:
			return now.Dev == known.Dev && now.Ino == known.Ino && now.Size == known.Size && now.Mtim == known.Mtim, nil
		case syscall.EINTR:
		default:
			return false, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
	}
}
