//go:build !unix

package ingest

import "io/fs"

// stat fills in size and time of an entry.
func (l *listing) stat(e fs.DirEntry, to *found) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	to.size, to.modTime = info.Size(), info.ModTime().UnixNano()
	return nil
}

// device is 0: it is not known.
func (l *listing) device() uint64 { return 0 }

// isMount is false: what is not mounted is not there.
func isMount(string) bool { return false }

// isApart is not asked where devices are not known.
func isApart(_, _ string) bool { return false }
