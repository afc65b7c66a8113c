package manifest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"sheaf/index/vfs"
)

// Generation reads only the number of a folder's current generation, while Read verifies the whole manifest. So callers
// can check for changes before every query. Without a manifest, Generation fails with fs.ErrNotExist.
func Generation(fsys vfs.FS, dir string) (uint64, error) {
	path := filepath.Join(dir, Name)
	f, err := fsys.Open(path)
	if err != nil {
		return 0, err
	}
	generation, err := readGeneration(f)
	return generation, errors.Join(err, f.Close())
}

func readGeneration(f vfs.File) (uint64, error) {
	var header [24]byte
	n, err := f.ReadAt(header[:], 0)
	if n < len(header) && err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if n < len(header) {
		return 0, fmt.Errorf("%s: %w: at byte %d: it ends within the header", Name, vfs.ErrCorrupt, n)
	}
	if string(header[:len(magic)]) != magic {
		return 0, fmt.Errorf("%s: %w: at byte 0: it does not begin with %q", Name, vfs.ErrCorrupt, magic)
	}
	return binary.LittleEndian.Uint64(header[16:]), nil
}
