package vfs

import "os"

// Silent returns the name of a folder's file system, such as "nfs", if the system may not report all changes. Other
// machines, or the host of a virtual machine, make such changes. In other cases Silent returns "".
func Silent(dir string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	return silentName(f)
}
