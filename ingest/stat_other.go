//go:build !unix

package ingest

import "os"

// stat sets the size and the time of f from the file called name. It does not follow a link.
func (f *File) stat(name string) error {
	info, err := os.Lstat(name)
	if err == nil {
		f.Bytes, f.ModTime = info.Size(), info.ModTime()
	}
	return err
}

// deviceOf returns 0, which means unknown. On this system a folder of an unmounted disk does not exist.
func deviceOf(string) uint64 { return 0 }
