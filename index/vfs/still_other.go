//go:build !linux

package vfs

import "io/fs"

// Still reports whether name leads to the file that info tells of, whose size and time are
// what they were.
func Still(fsys FS, name string, info fs.FileInfo) (bool, error) { return still(fsys, name, info) }
