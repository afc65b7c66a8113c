//go:build !unix

package ingest

import "os"

// stat fills in size and time of a file, whose name may belong to a link.
func (f *File) stat(name string) error {
	info, err := os.Lstat(name)
	if err == nil {
		f.Bytes, f.ModTime = info.Size(), info.ModTime()
	}
	return err
}

// deviceOf returns 0, which means unknown.
func deviceOf(string) uint64 { return 0 }

// isMount returns false: here a folder of an unmounted disk does not exist.
func isMount(string) bool { return false }

// isApart returns false. It is never called where devices are unknown.
func isApart(_, _ string) bool { return false }
