// Package vfs makes the file system a parameter, so that tests can crash it. All code that writes
// an index uses an [FS]: [Disk] is the real one, [Mem] is in memory and can lose unsynced data, and
// [Faulty] adds errors on demand to any of them.
package vfs

import (
	"errors"
	"io"
	"io/fs"
)

// ErrCorrupt means that stored bytes have changed since they were written. Errors that wrap it name
// the file and the place. Packages above report damage with it too.
var ErrCorrupt = errors.New("corrupt")

// ErrVersion means that another version of this program wrote a file.
var ErrVersion = errors.New("format version")

// FS is a file system. Names use the host's separator for Disk and slashes for Mem. Methods are
// safe for concurrent use; errors are *fs.PathError or wrap one, so that errors.Is(err,
// fs.ErrNotExist) works.
type FS interface {
	// Create creates an empty file for writing and replaces an existing one.
	Create(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Rename moves a file atomically and replaces an existing one.
	Rename(from, to string) error
	// Remove deletes a file or an empty folder.
	Remove(name string) error
	// MkdirAll creates a folder and the folders above it, durably.
	MkdirAll(name string) error
	// List returns the names in a folder, sorted.
	List(dir string) ([]string, error)
	// Stat describes a file.
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes creations, renames and removals in a folder durable.
	SyncDir(dir string) error
	// Map returns the contents of a file, mapped into memory if the platform allows it, else read.
	// They are aligned to 64 bytes.
	Map(name string) (Mapping, error)
	// Lock takes an exclusive lock on a file of that name. It does not wait: if another process or
	// goroutine holds the lock, the error wraps ErrLocked and names the holder. The lock ends with
	// Close or with the process.
	Lock(name string) (io.Closer, error)
}

// File is an open file. A file from Create is written from front to back; one from Open is read.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	// Sync makes written data durable.
	Sync() error
	Stat() (fs.FileInfo, error)
}

// Mapping is the contents of a file. Bytes must not be changed, and not be used after Close.
type Mapping interface {
	Bytes() []byte
	Close() error
}
