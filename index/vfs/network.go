package vfs

import "os"

// Silent is the name of the file system that a folder lies on, such as "nfs" or "9p", when
// this system does not tell of all that changes there: other machines, or the one that this
// is a guest of, write there, too. It is "" when no such file system is known.
func Silent(dir string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	return silentName(f)
}
