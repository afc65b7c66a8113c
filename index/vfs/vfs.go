// Package vfs is the file system as a parameter, so that tests can crash it.
// Everything that writes an index does so through an [FS]; [Disk] is the real
// one, [Mem] one in memory that can lose what was not synced, and [Faulty]
// wraps any of them with errors on demand.
package vfs

import (
	"errors"
	"io"
	"io/fs"
)

// ErrCorrupt says that stored bytes are not those that were written. Errors that
// wrap it name the file and the place. Packages above
// report damage by it too.
var ErrCorrupt = errors.New("corrupt")

// ErrVersion says that a file was written by another version of this program.
var ErrVersion = errors.New("format version")

// FS is a file system. Names use the host's separator for Disk and slashes for
// Mem. Methods are safe for concurrent use; errors are *fs.PathError or wrap
// one, so that errors.Is(err, fs.ErrNotExist) works.
type FS interface {
	// Create makes an empty file for writing, instead of one that is there.
	Create(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Rename moves a file, instead of one that is there, atomically.
	Rename(from, to string) error
	// Remove deletes a file or an empty folder.
	Remove(name string) error
	// MkdirAll makes a folder and the folders above it, durably.
	MkdirAll(name string) error
	// List returns the names in a folder, sorted.
	List(dir string) ([]string, error)
	// Stat describes a file.
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes creations, renames and removals in a folder durable.
	SyncDir(dir string) error
	// Map returns the contents of a file, mapped into memory where the
	// platform allows and read otherwise. They are aligned to 64 bytes.
	Map(name string) (Mapping, error)
	// Lock takes an exclusive lock made of a file of that name. It does not
	// wait: when somebody else holds it, the error wraps ErrLocked and says
	// who. The lock ends with Close or with the process.
	Lock(name string) (io.Closer, error)
}

// File is an open file. A file from Create is written from front to back; one
// from Open is read.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	// Sync makes what was written durable.
	Sync() error
	Stat() (fs.FileInfo, error)
}

// Mapping is the contents of a file. Bytes must not be changed and not be used
// after Close.
type Mapping interface {
	Bytes() []byte
	Close() error
}
