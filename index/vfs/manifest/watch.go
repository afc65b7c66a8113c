package manifest

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"

	"sheaf/index/vfs"
)

// Watch reads the current generation of a folder repeatedly, as [Generation] does. If open files keep their identity
// (see [vfs.Pins]), Watch keeps the manifest open. While the name still leads to the open file, nothing was published.
// This holds for fast publications and for coarse file times. On other file systems, Watch reads the file each time.
// All methods are safe for concurrent use.
type Watch struct {
	fs   vfs.FS
	path string
	held atomic.Pointer[openManifest]
}

type openManifest struct {
	file       vfs.File
	info       fs.FileInfo
	generation uint64
}

// ended marks a closed Watch.
var ended = &openManifest{}

// NewWatch returns a Watch of a folder. The folder may be missing.
func NewWatch(fsys vfs.FS, dir string) *Watch {
	return &Watch{fs: fsys, path: filepath.Join(dir, Name)}
}

// Generation returns the current generation.
func (w *Watch) Generation() (uint64, error) {
	h := w.held.Load()
	if h != nil && h != ended {
		// Another program may have written into the file, for example by restoring a copy.
		still, err := vfs.Still(w.fs, w.path, h.info)
		// If h is no longer held, it may be closed, and another file may have its identity.
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
	info, err := f.Stat() // before reading: a later write changes the time
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	generation, err := readGeneration(f)
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	if !w.held.CompareAndSwap(h, &openManifest{f, info, generation}) {
		return generation, f.Close()
	}
	if h != nil {
		_ = h.file.Close() // opened only for reading
	}
	return generation, nil
}

// Close closes the manifest file. The Watch still works, and reads the file each time.
func (w *Watch) Close() error {
	if h := w.held.Swap(ended); h != nil && h != ended {
		return h.file.Close()
	}
	return nil
}
