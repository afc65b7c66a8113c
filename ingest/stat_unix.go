//go:build unix

package ingest

import (
	"time"

	"golang.org/x/sys/unix"
)

// stat sets the size and the times of f from the file called name. It does not follow a link.
func (f *File) stat(name string) error {
	var st unix.Stat_t
	err := unix.Lstat(name, &st)
	for err == unix.EINTR {
		err = unix.Lstat(name, &st)
	}
	f.Bytes, f.ModTime, f.state = st.Size, time.Unix(0, st.Mtim.Nano()), st.Ctim.Nano()
	return err
}

// deviceOf returns the number of the device that a folder is on, or 0 if it is unknown.
func deviceOf(dir string) uint64 {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return 0
	}
	return uint64(st.Dev)
}
