//go:build !linux || !(amd64 || arm64)

package catalog

import "sheaf/index/vfs"

// unchanged is matches of the source file.
func (t *sourceText) unchanged(source vfs.FS) bool { return t.file.matches(source, t.name) }
