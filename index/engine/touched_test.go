package engine

import (
	"fmt"

	"sheaf/index/vfs"
)

// touchedFiles is how much of its files a program reads: every touched page of mapped files, every byte of others.
type touchedFiles struct {
	Files int // mapped files
	Size  int // their size
	Pages int // their touched pages, of the machine's page size
	Bytes int // read from files without mapping
}

// String implements [fmt.Stringer].
func (r touchedFiles) String() string {
	return fmt.Sprintf("%d pages of %d mapped files of %d bytes, and %d bytes of others", r.Pages, r.Files, r.Size,
		r.Bytes)
}

// countedFile counts reads of files that are not mapped.
type countedFile struct {
	vfs.File
	to *int
}

func (f countedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	*f.to += n
	return n, err
}

func (f countedFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	*f.to += n
	return n, err
}
