package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// WriteFile puts a small file of the operating system in the place of what path holds,
// or nothing: it is written beside and renamed, so that readers and a crash see the old
// one or the whole new one, with content that was synced. Whether it is the new one after
// a crash is certain once its folder is synced. Only its owner can read it, unless mode
// says otherwise; 0 is 0600.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil && mode != 0 {
		err = file.Chmod(mode)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = Disk{}.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// unfinished begins the names of files that WriteFile has not renamed yet.
const unfinished = ".new-"

// UnfinishedAge is how long after its last write an unfinished file of WriteFile counts as
// abandoned.
const UnfinishedAge = time.Minute

// Sweep removes from a folder what WriteFile left there where its process ended in the midst
// of it: what has not been written to for so long. A folder that is not there holds nothing.
func Sweep(dir string, age time.Duration) error {
	names, err := Disk{}.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if !strings.HasPrefix(name, unfinished) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, fault := os.Lstat(path); fault != nil || time.Since(info.ModTime()) <= age {
			continue
		}
		if fault := os.Remove(path); !errors.Is(fault, fs.ErrNotExist) {
			err = errors.Join(err, fault)
		}
	}
	return err
}
