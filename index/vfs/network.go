package vfs

import "os"

// Silent returns the name of a folder's file system, such as "nfs" or "9p", if this system misses
// changes there. It does so if other machines or its host write there too. The name is "" for other
// file systems.
func Silent(dir string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	return silentName(f)
}
