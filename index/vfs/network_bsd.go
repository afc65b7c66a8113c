//go:build darwin || freebsd || dragonfly

package vfs

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// networkName returns the name of f's file system if that is a network file system, otherwise "".
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

// silentName returns the result of [Silent] for an open folder.
func silentName(f *os.File) string { return networkName(f) }
