//go:build darwin || freebsd || dragonfly

package vfs

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// networkName is the name of the network file system that f lies on, "" when it
// lies on none that is known.
func networkName(f *os.File) string {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil {
		return ""
	}
	name := unix.ByteSliceToString(s.Fstypename[:])
	if slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav", "ftp"}, name) {
		return name
	}
	return ""
}

// silentName is what [Silent] says of a folder.
func silentName(f *os.File) string { return networkName(f) }
