package vfs

import "os"

// Network is the name of the network file system that a folder lies on, such as
// "nfs" or "smb"; "" when it lies on none that is known. There a system does not
// tell of changes that other machines make.
func Network(dir string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	return networkName(f)
}
