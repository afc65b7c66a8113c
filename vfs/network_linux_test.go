package vfs

import "testing"

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
		if got := mountType(line, "0:52"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
