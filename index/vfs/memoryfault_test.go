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

// TestSafely checks that reading a truncated mapped file is an error, and that other panics stay panics.
func TestSafely(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not let files be cut short that are mapped")
	}
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, os.WriteFile(path, make([]byte, 1<<20), 0o600))
	m := must.Get(vfs.Disk{}.Map(path))
	defer m.Close()
	sum := 0
	add := func() {
		for _, b := range m.Bytes() {
			sum += int(b)
		}
	}
	check.NoError(t, vfs.Safely(add), "a whole file")
	must.Do(t, os.Truncate(path, 100))
	check.Is(t, vfs.Safely(add), vfs.ErrFault, "a file that was cut short")
	defer func() {
		check.That(t, recover() != nil, "another panic is swallowed")
	}()
	_ = vfs.Safely(func() { panic("other") })
}
