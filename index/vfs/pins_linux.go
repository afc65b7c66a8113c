package vfs

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// pinningTypes are file systems of this machine on which two files that are there at
// once never have one number, and a name always says which file it has now.
var pinningTypes = []int64{
	unix.EXT4_SUPER_MAGIC, // and ext2, ext3
	unix.XFS_SUPER_MAGIC,
	unix.BTRFS_SUPER_MAGIC,
	unix.F2FS_SUPER_MAGIC,
	unix.TMPFS_MAGIC,
	unix.OVERLAYFS_SUPER_MAGIC,
	0x2fc12fc1, // ZFS
}

// Pins reports whether f, while it is open, keeps its identity from every other file,
// even after another one took its name: what os.SameFile says of it and of a file found
// by name is sure then. It says no where that is not known: on network file systems, on
// systems that let no open file be replaced, and of files that are not of [Disk].
func Pins(f File) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	var s unix.Statfs_t
	// some types are negative on 32 bits
	return unix.Fstatfs(int(file.Fd()), &s) == nil && slices.Contains(pinningTypes, int64(uint32(s.Type)))
}
