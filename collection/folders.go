package collection

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sheaf"
	"sheaf/internal/suggest"
	"sheaf/internal/wording"
)

// AnswerTime is the longest time that [InTime] waits for a folder. A folder on a disconnected drive may never answer.
var AnswerTime = 10 * time.Second

// InTime calls the function look with a folder, and returns the results of look. If look takes longer than AnswerTime,
// InTime returns an error.
func InTime(dir string, look func(string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	type seen struct {
		info fs.FileInfo
		err  error
	}
	done := make(chan seen, 1)
	go func() {
		info, err := look(dir)
		done <- seen{info, err}
	}()
	select {
	case s := <-done:
		return s.info, s.err
	case <-time.After(AnswerTime):
		if dir == "." { // asking the system for the name would hang too
			dir = cmp.Or(os.Getenv("PWD"), dir)
		}
		return nil, fmt.Errorf("%w: %s did not answer within %v", sheaf.ErrUnavailable, dir, AnswerTime)
	}
}

// RealFolder returns the absolute path of a folder, with all links resolved. "" is the current folder.
func RealFolder(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	st, err := InTime(dir, os.Stat)
	switch {
	case errors.Is(err, sheaf.ErrUnavailable):
		return "", Hint(err, "check that its drive is connected, or name another folder with --in")
	case err != nil:
		return "", NearFile(FileFault("folder", err), dir)
	case !st.IsDir():
		return "", sheaf.Invalidf("%s is not a folder: give the folder that holds it, as in --in %s", dir,
			wording.ShellQuoted(filepath.Dir(dir)))
	}
	real, err := RealPath(dir)
	if err != nil {
		return "", FileFault("folder", err)
	}
	return real, nil
}

// RealPath returns the absolute path of a file. It resolves all links, also those in the path of the current folder.
func RealPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", sheaf.WithCategory(sheaf.ErrNotFound,
			errors.New("the current folder does not exist any more: change to another folder"))
	}
	return filepath.EvalSymlinks(path)
}

// FileFault adds a category and a plain text to an error of the file system. kind is the word for a missing thing in
// the text "no such folder: PATH".
func FileFault(kind string, err error) error {
	path, named := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		if named { // leave out the name of the system call
			err = fmt.Errorf("no such %s: %s", kind, path.Path)
		}
		return sheaf.WithCategory(sheaf.ErrNotFound, err)
	case errors.Is(err, syscall.EISDIR) && named:
		return sheaf.Invalidf("%s is a folder: name a file", path.Path)
	case errors.Is(err, fs.ErrPermission):
		if named {
			err = fmt.Errorf("%s %s: %w", kind, path.Path, path.Err)
		}
		return fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
	}
	return err
}

// NearFile adds a suggestion to an error about a missing file: the most similar name in the same folder.
func NearFile(err error, name string) error {
	entries, _ := os.ReadDir(filepath.Dir(name)) // without a list there is no hint
	var names []string
	for _, e := range entries {
		if e.Name() != filepath.Base(name) { // a link that leads nowhere
			names = append(names, e.Name())
		}
	}
	near := suggest.NearestValue(filepath.Base(name), names)
	if near == "" || !errors.Is(err, sheaf.ErrNotFound) {
		return err
	}
	return Hint(err, "did you mean %s?", filepath.Join(filepath.Dir(name), near))
}
