package vfs

import (
	"io/fs"
	"os"
)

// Still reports whether name leads to the file that info describes, with the same size and time. It returns the errors
// of Stat.
func Still(fsys FS, name string, info fs.FileInfo) (bool, error) {
	now, err := fsys.Stat(name)
	if err != nil {
		return false, err
	}
	return os.SameFile(now, info) && now.Size() == info.Size() && now.ModTime().Equal(info.ModTime()), nil
}
