package vfs

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// networkTypes are file systems on which a lock may bind only the processes of
// one machine, or a file may vanish under its mapping. 9P and other FUSE file
// systems are not among them: virtual machines and containers have their local
// disks on those.
var networkTypes = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.SMB2_SUPER_MAGIC: "smb2",
	unix.AFS_SUPER_MAGIC:  "afs",
	unix.CODA_SUPER_MAGIC: "coda",
	unix.NCP_SUPER_MAGIC:  "ncp",
}

// networkMounts are the FUSE file systems that keep files on other machines.
var networkMounts = []string{"fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.goofys", "fuse.mount-s3", "fuse.davfs", "fuse.curlftpfs", "fuse.glusterfs", "fuse.juicefs"}

// networkName is the name of the network file system that f lies on, "" when it
// lies on none that is known.
func networkName(f *os.File) string {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil {
		return ""
	}
	if magic := int64(uint32(s.Type)); magic != unix.FUSE_SUPER_MAGIC { // some types are negative on 32 bits
		return networkTypes[magic]
	}
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return ""
	}
	dev := uint64(st.Dev)
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer mounts.Close()
	device := fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		if name := mountType(lines.Text(), device); slices.Contains(networkMounts, name) {
			return name
		}
	}
	return ""
}

// mountType is the type of file system in a line of mountinfo, when it is about
// the device: "36 35 98:0 /root /mount options - type source options".
func mountType(line, device string) string {
	mount, system, _ := strings.Cut(line, " - ")
	fields := strings.Fields(mount)
	if len(fields) < 3 || fields[2] != device {
		return ""
	}
	name, _, _ := strings.Cut(system, " ")
	return name
}
