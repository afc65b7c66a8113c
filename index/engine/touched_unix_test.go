//go:build unix && !aix

package engine

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"sheaf/index/vfs"
	"sheaf/internal/must"
)

// touchedBy returns what open reads of files on disk. It calls open repeatedly and protects some mapped pages.
// A failure shows that open reads a protected page. open must run in one goroutine and close the files.
func touchedBy(t testing.TB, open func(fs vfs.FS) error) touchedFiles {
	t.Helper()
	fs := &protecting{Disk: vfs.Disk{}, files: map[string]kept{}}
	defer fs.unmap(t)
	must.Do(t, open(fs))
	read := touchedFiles{Files: len(fs.files), Bytes: fs.bytes}
	for name, file := range fs.files {
		read.Size += len(file)
		read.Pages += fs.looked(t, file, open)
		must.That(t, len(fs.files) == read.Files, "%s: another try opens other files", name)
	}
	must.Do(t, open(fs))
	return read
}

// protecting is the host's file system with mappings that stay after Close.
type protecting struct {
	vfs.Disk
	files map[string]kept
	bytes int
}

// looked returns how many of these pages open reads.
func (p *protecting) looked(t testing.TB, pages kept, open func(fs vfs.FS) error) int {
	t.Helper()
	if len(pages) == 0 {
		return 0
	}
	p.protect(t, pages, unix.PROT_NONE)
	var err error
	fault := vfs.Safely(func() { err = open(p) })
	p.protect(t, pages, unix.PROT_READ)
	size := unix.Getpagesize()
	half := len(pages) / size / 2 * size
	switch {
	case err == nil && fault == nil:
		return 0
	case len(pages) <= size:
		return 1
	case half == 0:
		half = size
	}
	return p.looked(t, pages[:half], open) + p.looked(t, pages[half:], open)
}

// kept is a mapping that Close does not unmap.
type kept []byte

func (k kept) Bytes() []byte { return k }
func (k kept) Close() error  { return nil }

// Map implements [vfs.FS].
func (p *protecting) Map(name string) (vfs.Mapping, error) {
	if file, ok := p.files[name]; ok {
		return file, nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := unix.Mmap(-1, 0, max(len(content), 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	copy(file, content)
	p.files[name] = file[:len(content)]
	return p.files[name], nil
}

// Open implements [vfs.FS].
func (p *protecting) Open(name string) (vfs.File, error) {
	file, err := p.Disk.Open(name)
	if err != nil {
		return nil, err
	}
	return countedFile{file, &p.bytes}, nil
}

func (p *protecting) protect(t testing.TB, page []byte, to int) {
	t.Helper()
	must.Do(t, unix.Mprotect(page, to))
}

func (p *protecting) unmap(t testing.TB) {
	t.Helper()
	for _, file := range p.files {
		must.Do(t, unix.Munmap(file[:cap(file)]))
	}
}
