//go:build unix

package ingest

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// stat fills in size and times of an entry. It uses the open folder, so that the system does not
// resolve the path again for every file.
func (l *listing) stat(e fs.DirEntry, to *File) error {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(int(l.dir.Fd()), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return err
		}
	}
	to.Bytes, to.ModTime, to.state = st.Size, time.Unix(0, st.Mtim.Nano()), st.Ctim.Nano()
	return nil
}

// device returns the number of the folder's device; 0 when it is unknown.
func (l *listing) device() uint64 {
	var st unix.Stat_t
	if unix.Fstat(int(l.dir.Fd()), &st) != nil {
		return 0
	}
	return uint64(st.Dev)
}

// isMount reports whether a disk is mounted at a folder: the folder is then on another device than
// its parent.
func isMount(dir string) bool { return isApart(dir, dir+"/..") }

// isApart reports whether two folders are on different devices.
func isApart(dir, above string) bool {
	var a, b unix.Stat_t
	return unix.Stat(dir, &a) == nil && unix.Stat(above, &b) == nil && a.Dev != b.Dev
}
