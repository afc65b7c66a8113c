package vfs

import (
	"io"
	"io/fs"
)

// Op is a call that can fail.
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

// Faulty is a file system with faults. It calls Fail before every call. If Fail returns an error, such as
// syscall.ENOSPC, the call fails with this error. A failing write first writes half of its bytes.
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

// Create implements [FS].
func (f *Faulty) Create(name string) (File, error) {
	if err := f.fail(OpCreate, name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, f, name}, nil
}

// Open implements [FS].
func (f *Faulty) Open(name string) (File, error) {
	if err := f.fail(OpOpen, name); err != nil {
		return nil, err
	}
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, f, name}, nil
}

// Rename implements [FS].
func (f *Faulty) Rename(from, to string) error {
	if err := f.fail(OpRename, from); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

// Remove implements [FS].
func (f *Faulty) Remove(name string) error {
	if err := f.fail(OpRemove, name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

// MkdirAll implements [FS].
func (f *Faulty) MkdirAll(name string) error {
	if err := f.fail(OpMkdir, name); err != nil {
		return err
	}
	return f.FS.MkdirAll(name)
}

// List implements [FS].
func (f *Faulty) List(dir string) ([]string, error) {
	if err := f.fail(OpList, dir); err != nil {
		return nil, err
	}
	return f.FS.List(dir)
}

// Stat implements [FS].
func (f *Faulty) Stat(name string) (fs.FileInfo, error) {
	if err := f.fail(OpStat, name); err != nil {
		return nil, err
	}
	return f.FS.Stat(name)
}

// SyncDir implements [FS].
func (f *Faulty) SyncDir(dir string) error {
	if err := f.fail(OpSyncDir, dir); err != nil {
		return err
	}
	return f.FS.SyncDir(dir)
}

// Map implements [FS].
func (f *Faulty) Map(name string) (Mapping, error) {
	if err := f.fail(OpMap, name); err != nil {
		return nil, err
	}
	return f.FS.Map(name)
}

// Lock implements [FS].
func (f *Faulty) Lock(name string) (io.Closer, error) {
	if err := f.fail(OpLock, name); err != nil {
		return nil, err
	}
	return f.FS.Lock(name)
}

type faultyFile struct {
	File
	f    *Faulty
	name string
}

func (f *faultyFile) Read(b []byte) (int, error) {
	if err := f.f.fail(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.File.Read(b)
}

func (f *faultyFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.f.fail(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, at)
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if err := f.f.fail(OpWrite, f.name); err != nil {
		n, _ := f.File.Write(b[:len(b)/2]) // the fault matters more
		return n, err
	}
	return f.File.Write(b)
}

func (f *faultyFile) Sync() error {
	if err := f.f.fail(OpSync, f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Close() error {
	if err := f.f.fail(OpClose, f.name); err != nil {
		_ = f.File.Close() // leave nothing open
		return err
	}
	return f.File.Close()
}
