package vfs

import (
	"io"
	"io/fs"
)

// Op is a call of a file system that a test can make fail.
type Op string

// These are the calls that can fail.
const (
	OpCreate  Op = "create"
	OpOpen    Op = "open"
	OpRename  Op = "rename"
	OpRemove  Op = "remove"
	OpMkdir   Op = "mkdir"
	OpList    Op = "list"
	OpStat    Op = "stat"
	OpSyncDir Op = "syncdir"
	OpMap     Op = "map"
	OpLock    Op = "lock"
	OpRead    Op = "read"
	OpWrite   Op = "write"
	OpSync    Op = "sync"
	OpClose   Op = "close"
)

// Faulty is a file system with faults. It calls Fail before every operation. If Fail returns an error, such as
// syscall.ENOSPC, the operation fails with this error. A failing write first writes half of its bytes.
type Faulty struct {
	FS
	Fail func(op Op, name string) error
}

var _ FS = (*Faulty)(nil)

func (f *Faulty) fail(op Op, name string) error {
	if err := f.Fail(op, name); err != nil {
		return &fs.PathError{Op: string(op), Path: name, Err: err}
	}
	return nil
}

// try returns the result of call, unless Fail returns an error for this operation.
func try[T any](f *Faulty, op Op, name string, call func(name string) (T, error)) (result T, err error) {
	if err := f.fail(op, name); err != nil {
		return result, err
	}
	return call(name)
}

// tryOnly does the same as try, for operations that return only an error.
func (f *Faulty) tryOnly(op Op, name string, call func(name string) error) error {
	_, err := try(f, op, name, func(name string) (struct{}, error) { return struct{}{}, call(name) })
	return err
}

// opened wraps the function open, so that operations on the files that it opens can fail too.
func (f *Faulty) opened(open func(name string) (File, error)) func(name string) (File, error) {
	return func(name string) (File, error) {
		file, err := open(name)
		if err != nil {
			return nil, err
		}
		return &faultyFile{file, f, name}, nil
	}
}

// Create implements [FS].
func (f *Faulty) Create(name string) (File, error) {
	return try(f, OpCreate, name, f.opened(f.FS.Create))
}

// Open implements [FS].
func (f *Faulty) Open(name string) (File, error) { return try(f, OpOpen, name, f.opened(f.FS.Open)) }

// Rename implements [FS].
func (f *Faulty) Rename(from, to string) error {
	return f.tryOnly(OpRename, from, func(string) error { return f.FS.Rename(from, to) })
}

// Remove implements [FS].
func (f *Faulty) Remove(name string) error { return f.tryOnly(OpRemove, name, f.FS.Remove) }

// MkdirAll implements [FS].
func (f *Faulty) MkdirAll(name string) error { return f.tryOnly(OpMkdir, name, f.FS.MkdirAll) }

// List implements [FS].
func (f *Faulty) List(dir string) ([]string, error) { return try(f, OpList, dir, f.FS.List) }

// Stat implements [FS].
func (f *Faulty) Stat(name string) (fs.FileInfo, error) { return try(f, OpStat, name, f.FS.Stat) }

// SyncDir implements [FS].
func (f *Faulty) SyncDir(dir string) error { return f.tryOnly(OpSyncDir, dir, f.FS.SyncDir) }

// Map implements [FS].
func (f *Faulty) Map(name string) (Mapping, error) { return try(f, OpMap, name, f.FS.Map) }

// Lock implements [FS].
func (f *Faulty) Lock(name string) (io.Closer, error) { return try(f, OpLock, name, f.FS.Lock) }

type faultyFile struct {
	File
	f    *Faulty
	name string
}

func (f *faultyFile) Read(b []byte) (int, error) {
	return try(f.f, OpRead, f.name, func(string) (int, error) { return f.File.Read(b) })
}

func (f *faultyFile) ReadAt(b []byte, at int64) (int, error) {
	return try(f.f, OpRead, f.name, func(string) (int, error) { return f.File.ReadAt(b, at) })
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if err := f.f.fail(OpWrite, f.name); err != nil {
		n, _ := f.File.Write(b[:len(b)/2]) // the fault matters more
		return n, err
	}
	return f.File.Write(b)
}

func (f *faultyFile) Sync() error {
	return f.f.tryOnly(OpSync, f.name, func(string) error { return f.File.Sync() })
}

func (f *faultyFile) Close() error {
	if err := f.f.fail(OpClose, f.name); err != nil {
		_ = f.File.Close() // leave nothing open
		return err
	}
	return f.File.Close()
}
