package vfs

import (
	"testing"

	"golang.org/x/sys/unix"

	"sheaf/internal/check"
)

// TestFileSystemsThatNeedPolling checks which file systems report no changes by other machines, so that a watch must
// poll them.
func TestFileSystemsThatNeedPolling(t *testing.T) {
	for _, c := range []struct {
		magic       int64
		mount, want string
	}{
		{unix.NFS_SUPER_MAGIC, "", "nfs"}, {unix.V9FS_MAGIC, "", "9p"}, {vboxMagic, "", "vboxsf"},
		{unix.EXT4_SUPER_MAGIC, "", ""}, {unix.TMPFS_MAGIC, "", ""},
		{unix.FUSE_SUPER_MAGIC, "fuse.sshfs", "fuse.sshfs"}, {unix.FUSE_SUPER_MAGIC, "virtiofs", "virtiofs"},
		{unix.FUSE_SUPER_MAGIC, "fuse.bindfs", "fuse.bindfs"}, {unix.FUSE_SUPER_MAGIC, "fuseblk", ""},
		{unix.FUSE_SUPER_MAGIC, "", ""},
	} {
		check.Equal(t, silentOf(c.magic, c.mount), c.want, "%#x %s", c.magic, c.mount)
	}
	if got := Silent(t.TempDir()); got != "" {
		t.Logf("the tests lie on %s", got)
	}
}

func TestMountType(t *testing.T) {
	for line, want := range map[string]string{
		"98 29 0:52 / /home/me/far rw,nosuid shared:1 - fuse.sshfs me@host: rw,user_id=1000": "fuse.sshfs",
		"98 29 0:53 / /home/me/far rw,nosuid - fuse.sshfs me@host: rw":                       "",
		"98 29 0:52 / /mnt/x rw master:3 - fuse.gocryptfs /x rw":                             "fuse.gocryptfs",
		"":                                  "",
		"98 29 0:52":                        "",
		"98 29 0:52 / / rw - ":              "",
		"98 29 0:52 / /a rw - ext4 x - y z": "ext4",
	} {
		check.Equal(t, mountType(line, "0:52"), want, "%q", line)
	}
}
