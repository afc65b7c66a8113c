// Package touched tells, for tests, how much of the files below a file system is
// read: of mapped ones every page that is looked at, of others every byte.
package touched

import (
	"fmt"

	"sheaf/index/vfs"
)

// Read is what was read.
type Read struct {
	Files int // that were mapped
	Size  int // of these
	Pages int // of these, as large as the machine has them, that were looked at
	Bytes int // of files that were read and not mapped
}

// String implements [fmt.Stringer].
func (r Read) String() string {
	return fmt.Sprintf("%d pages of %d mapped files of %d bytes, and %d bytes of others", r.Pages, r.Files, r.Size,
		r.Bytes)
}

// counted counts what is read of files that are not mapped.
type counted struct {
	vfs.File
	to *int
}

func (f counted) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	*f.to += n
	return n, err
}

func (f counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	*f.to += n
	return n, err
}
