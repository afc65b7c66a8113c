package vfs

import "os"

// Silent returns the name of a folder's file system, such as "nfs", if changes there may not be reported. Other
// machines or the host make such changes. For other file systems Silent returns "".
func Silent(dir string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	return silentName(f)
}
