package vfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"sheaf/index/vfs"
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
	if err := vfs.Safely(add); err != nil {
		t.Errorf("a whole file: %v", err)
	}
	must.Do(t, os.Truncate(path, 100))
	if err := vfs.Safely(add); !errors.Is(err, vfs.ErrFault) {
		t.Errorf("a file that was cut short: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("another panic is swallowed")
		}
	}()
	_ = vfs.Safely(func() { panic("other") })
}
