// Package vfs makes the file system a parameter, so that tests can make it crash. All code that writes an index uses an
// [FS]. [Disk] is the real file system. [Mem] is in memory and can lose unsynced data. [Faulty] adds errors on demand
// to another FS.
package vfs

import (
	"errors"
	"io"
	"io/fs"
)

// ErrCorrupt means that stored bytes have changed since they were written. Errors that wrap it name the file and the
// place. Packages that use vfs report damage with this error too.
var ErrCorrupt = errors.New("corrupt")

// ErrVersion means that another version of this program wrote a file.
var ErrVersion = errors.New("format version")

// FS is a file system. Names use the host's separator for Disk, and slashes for Mem. Methods are safe for concurrent
// use. An error is an *fs.PathError or wraps one, so that errors.Is(err, fs.ErrNotExist) works.
type FS interface {
	// Create creates an empty file for writing. It replaces an existing file.
	Create(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Rename moves a file atomically. It replaces an existing file.
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
	// Map returns the contents of a file. It maps the file into memory if the platform allows it, and otherwise reads
	// the file. The address of the contents is a multiple of 64.
	Map(name string) (Mapping, error)
	// Lock takes an exclusive lock on the file with this name. It does not wait. If another process or goroutine holds
	// the lock, the error wraps ErrLocked and names the holder. The lock ends with Close, or with the process.
	Lock(name string) (io.Closer, error)
}

// File is an open file. A file from Create can only be written, from front to back. A file from Open can only be read.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	// Sync makes written data durable.
	Sync() error
	Stat() (fs.FileInfo, error)
}

// Mapping is the contents of a file. The caller must not change the bytes, and must not use them after Close.
type Mapping interface {
	Bytes() []byte
	Close() error
}
