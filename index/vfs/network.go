package vfs

import "os"

// Silent returns the name of a folder's file system, such as "nfs" or "9p", if other machines or the host can change
// files there without a notice to this system. For other file systems it returns "".
func Silent(dir string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	return silentName(f)
}
