//go:build !unix

package ingest

import "io/fs"

// stat fills in size and time of an entry.
func (l *listing) stat(e fs.DirEntry, to *File) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	to.Bytes, to.ModTime = info.Size(), info.ModTime()
	return nil
}

// device returns 0, which means unknown.
func (l *listing) device() uint64 { return 0 }

// isMount returns false: here a folder of an unmounted disk does not exist.
func isMount(string) bool { return false }

// isApart is never called where devices are unknown.
func isApart(_, _ string) bool { return false }
