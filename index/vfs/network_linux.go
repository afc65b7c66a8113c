package vfs

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// networkTypes maps types of file systems to their names. In these file systems, locks may apply to one machine only,
// or mapped files may vanish. The types of 9P and FUSE are missing, because virtual machines use them for local disks.
// For FUSE, see networkMounts.
var networkTypes = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.SMB2_SUPER_MAGIC: "smb2",
	unix.AFS_SUPER_MAGIC:  "afs",
	unix.CODA_SUPER_MAGIC: "coda",
	unix.NCP_SUPER_MAGIC:  "ncp",
}

// networkMounts are the FUSE file systems that store files on other machines.
var networkMounts = []string{"fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.goofys", "fuse.mount-s3",
	"fuse.davfs", "fuse.curlftpfs", "fuse.glusterfs", "fuse.juicefs"}

// networkName returns the name of f's file system if that is a network file system, otherwise "".
func networkName(f *os.File) string {
	magic, mount := systemOf(f)
	if slices.Contains(networkMounts, mount) {
		return mount
	}
	return networkTypes[magic]
}

// vboxMagic is the file system type of VirtualBox's shared folders.
const vboxMagic = 0x786f4256

// silentName returns the result of [Silent] for an open folder.
func silentName(f *os.File) string { return silentOf(systemOf(f)) }

// silentOf returns the result of [Silent] for a type of file system. For FUSE, the type of the mount decides.
func silentOf(magic int64, mount string) string {
	switch {
	case magic == unix.V9FS_MAGIC:
		return "9p"
	case magic == vboxMagic:
		return "vboxsf"
	case magic == unix.FUSE_SUPER_MAGIC && mount != "fuseblk": // a local disk
		return mount
	}
	return networkTypes[magic]
}

// systemOf returns the type of f's file system, or 0 if unknown. For FUSE, mount is the type of the mount.
func systemOf(f *os.File) (magic int64, mount string) {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil {
		return 0, ""
	}
	magic = int64(uint32(s.Type)) // some types are negative on 32 bits
	if magic != unix.FUSE_SUPER_MAGIC {
		return magic, ""
	}
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return magic, ""
	}
	dev := uint64(st.Dev)
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return magic, ""
	}
	defer mounts.Close()
	device := fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		if name := mountType(lines.Text(), device); name != "" {
			return magic, name
		}
	}
	return magic, ""
}

// mountType returns the file system's type in a line of mountinfo. It returns "" if the line is about another device.
// For example, in this line the device is 98:0:
//
//	36 35 98:0 /root /mount options - type source options
func mountType(line, device string) string {
	mount, system, _ := strings.Cut(line, " - ")
	fields := strings.Fields(mount)
	if len(fields) < 3 || fields[2] != device {
		return ""
	}
	name, _, _ := strings.Cut(system, " ")
	return name
}
