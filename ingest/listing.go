package ingest

import (
	"io/fs"
	"os"
	"slices"
	"strings"
)

// listing is a folder that is being read.
type listing struct{ dir *os.File }

// openListing opens a folder and lists it in the order of names. The listing is
// never nil, and to be closed.
func openListing(path string) (*listing, []fs.DirEntry, error) {
	dir, err := os.Open(path)
	if err != nil {
		return &listing{}, nil, err
	}
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return &listing{dir}, entries, err
}

func (l *listing) close() {
	if l.dir != nil {
		_ = l.dir.Close() // it was only read
	}
}
