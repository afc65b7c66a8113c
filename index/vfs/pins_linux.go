package vfs

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// pinningTypes are local file systems where existing files never share inode numbers, and names lead to current files.
var pinningTypes = []int64{
	unix.EXT4_SUPER_MAGIC, // and ext2, ext3
	unix.XFS_SUPER_MAGIC,
	unix.BTRFS_SUPER_MAGIC,
	unix.F2FS_SUPER_MAGIC,
	unix.TMPFS_MAGIC,
	unix.OVERLAYFS_SUPER_MAGIC,
	0x2fc12fc1, // ZFS
}

// Pins reports whether no other file can get the identity of f while f is open, even after a replacement. In this
// case os.SameFile can compare f with a file found by name. Pins returns false if this is unknown, as on network file
// systems, and for files outside [Disk].
func Pins(f File) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	var s unix.Statfs_t
	// some types are negative on 32 bits
	return unix.Fstatfs(int(file.Fd()), &s) == nil && slices.Contains(pinningTypes, int64(uint32(s.Type)))
}
