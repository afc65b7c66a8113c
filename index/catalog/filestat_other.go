//go:build !linux

package catalog

import "sheaf/index/vfs"

// matches reports whether a file has the recorded size and time.
func (f *FileState) matches(source vfs.FS, name string) bool { return f.describes(source, name) }
