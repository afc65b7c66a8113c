//go:build !linux

package vfs

import "io/fs"

// Still reports whether name leads to the file that info describes, with unchanged size and time.
func Still(fsys FS, name string, info fs.FileInfo) (bool, error) { return still(fsys, name, info) }
