package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// WriteFile replaces the file at path, or creates it. It writes and syncs a temporary file beside
// it and renames that, so that readers and a crash see the whole old or the whole new content.
// After the folder is synced, a crash always leaves the new one. Only the owner can read the file,
// unless mode says otherwise; 0 means 0600.
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

// Sweep removes unfinished files of WriteFile from a folder if they were not written for age. A
// missing folder has none.
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
