//go:build unix

package ingest

import (
	"time"

	"golang.org/x/sys/unix"
)

// stat fills in size and times of a file, whose name may belong to a link.
func (f *File) stat(name string) error {
	var st unix.Stat_t
	err := unix.Lstat(name, &st)
	for err == unix.EINTR {
		err = unix.Lstat(name, &st)
	}
	f.Bytes, f.ModTime, f.state = st.Size, time.Unix(0, st.Mtim.Nano()), st.Ctim.Nano()
	return err
}

// deviceOf returns the number of a folder's device; 0 when it is unknown.
func deviceOf(dir string) uint64 {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return 0
	}
	return uint64(st.Dev)
}

// isMount reports whether a disk is mounted at a folder. The folder and its parent are then on different devices.
func isMount(dir string) bool { return isApart(dir, dir+"/..") }

// isApart reports whether two folders are on different devices.
func isApart(dir, above string) bool {
	a, b := deviceOf(dir), deviceOf(above)
	return a != 0 && b != 0 && a != b
}
