package vfs_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestWriteFile checks that a file is old or new as a whole and private, and that no temporary file stays.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"one", "another"} {
		must.Do(t, vfs.WriteFile(path, []byte(text), 0))
		got, err := os.ReadFile(path)
		check.That(t, err == nil && string(got) == text, "%q, %v, want %q", got, err, text)
	}
	if runtime.GOOS != "windows" {
		for mode, want := range map[os.FileMode]os.FileMode{0: 0o600, 0o640: 0o640} {
			must.Do(t, vfs.WriteFile(path, nil, mode))
			info, err := os.Stat(path)
			check.That(t, err == nil && info.Mode().Perm() == want, "mode %v, %v, want %v", info.Mode(), err, want)
		}
	}
	must.Do(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "taken", "by"), nil, 0o600))
	check.That(t, vfs.WriteFile(filepath.Join(dir, "taken"), nil, 0) != nil &&
		vfs.WriteFile(filepath.Join(dir, "none", "f"), nil, 0) != nil, "written where a folder is, or none")
	entries, err := os.ReadDir(dir)
	check.That(t, err == nil && len(entries) == 2, "left are %v, %v", entries, err)
}
