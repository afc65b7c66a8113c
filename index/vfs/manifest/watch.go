package manifest

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"

	"sheaf/index/vfs"
)

// Watch tells the current generation of a folder, again and again, as [Generation]
// does. It keeps the manifest that it read open, where that keeps the file's identity
// from others (see [vfs.Pins]): as long as the name leads to that very file nothing was
// published, however fast publications follow each other and however coarse the times of
// files are. Elsewhere it reads the file each time. All methods are safe for concurrent use.
type Watch struct {
	fs   vfs.FS
	path string
	held atomic.Pointer[held]
}

// held is a manifest that is open.
type held struct {
	file       vfs.File
	info       fs.FileInfo
	generation uint64
}

// ended is held by a Watch that is closed.
var ended = &held{}

// NewWatch returns a Watch of a folder, which need not be there.
func NewWatch(fsys vfs.FS, dir string) *Watch {
	return &Watch{fs: fsys, path: filepath.Join(dir, Name)}
}

// Generation is the current generation.
func (w *Watch) Generation() (uint64, error) {
	h := w.held.Load()
	if h != nil && h != ended {
		// Somebody may have written into it too, such as one who put a copy back in its place.
		still, err := vfs.Still(w.fs, w.path, h.info)
		// One that is no longer held may have been closed before the look: its
		// identity may have been another file's.
		if err == nil && still && w.held.Load() == h {
			return h.generation, nil
		}
	}
	f, err := w.fs.Open(w.path)
	if err != nil {
		return 0, err
	}
	if h == ended || !vfs.Pins(f) {
		generation, err := readGeneration(f)
		return generation, errors.Join(err, f.Close())
	}
	info, err := f.Stat() // before it is read: who writes into it after that changes its time
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	generation, err := readGeneration(f)
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	if !w.held.CompareAndSwap(h, &held{f, info, generation}) {
		return generation, f.Close()
	}
	if h != nil {
		_ = h.file.Close() // it was read only
	}
	return generation, nil
}

// Close gives the file back. The Watch can still be asked, and reads each time.
func (w *Watch) Close() error {
	if h := w.held.Swap(ended); h != nil && h != ended {
		return h.file.Close()
	}
	return nil
}
