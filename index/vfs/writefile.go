package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// WriteFile replaces the file at path, or creates it. It writes and syncs a temporary file in the same folder, and then
// renames that file. So readers find either the whole old content or the whole new content, even after a crash. If the
// caller syncs the folder afterwards, a crash always leaves the new content. mode 0 means 0600: only the owner can read
// the file.
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

// unfinished begins the name of a file that WriteFile has not renamed yet.
const unfinished = ".new-"

// UnfinishedAge is the time after the last write when an unfinished file of WriteFile counts as abandoned.
const UnfinishedAge = time.Minute

// Sweep removes unfinished files of WriteFile from a folder if nothing was written to them for age. dir may be missing.
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
