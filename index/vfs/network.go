package vfs

import "os"

// Silent returns the name of a folder's file system, such as "nfs", if the operating system may miss changes there.
// Other machines, or the host of a virtual machine, may make such changes. For other file systems, Silent returns "".
func Silent(dir string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	return silentName(f)
}
