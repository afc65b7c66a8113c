package vfs

import (
	"io/fs"
	"os"
)

// still does what Still does, on any file system.
func still(fsys FS, name string, info fs.FileInfo) (bool, error) {
	now, err := fsys.Stat(name)
	if err != nil {
		return false, err
	}
	return os.SameFile(now, info) && now.Size() == info.Size() && now.ModTime().Equal(info.ModTime()), nil
}
