package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"sheaf"
)

// FileError describes a fault in the file of a profile. It wraps sheaf.ErrInvalid.
type FileError struct {
	File         string
	Line, Column int // from 1; 0 for the file as a whole
	// Text describes the fault. It names no folder.
	Text string
	// within is Text with the names of folders, for local users. "" means the same as Text.
	within string
}

// Error returns the description with the file's full path and with the names of folders.
func (e *FileError) Error() string { return e.say(e.File, cmp.Or(e.within, e.Text)) }

// say returns the name and the position in the file, followed by text.
func (e *FileError) say(file, text string) string {
	if e.Line > 0 {
		file = fmt.Sprintf("%s:%d:%d", file, e.Line, e.Column)
	}
	return fmt.Sprintf("%v: %s: %s", sheaf.ErrInvalid, file, text)
}

// Unwrap returns sheaf.ErrInvalid.
func (e *FileError) Unwrap() error { return sheaf.ErrInvalid }

// WithoutFolders returns an error of this package with a text that names files without their folders. It returns other
// errors unchanged. Servers show the text to remote users.
func WithoutFolders(err error) error {
	var file *FileError
	var access *fs.PathError
	switch {
	case errors.As(err, &file):
		return placeless{err, file.say(filepath.Base(file.File), file.Text)}
	case errors.As(err, &access):
		return placeless{err, fmt.Sprintf("%s %s: %v", access.Op, filepath.Base(access.Path), access.Err)}
	}
	return err
}

// placeless is an error whose text names no folder.
type placeless struct {
	error
	text string
}

func (e placeless) Error() string { return e.text }

func (e placeless) Unwrap() error { return e.error }
