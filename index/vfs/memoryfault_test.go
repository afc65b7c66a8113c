package vfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"sheaf/index/vfs"
)

// TestSafely checks that reading a truncated mapped file is an error, and that other panics stay panics.
func TestSafely(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not let files be cut short that are mapped")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := vfs.Disk{}.Map(path)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
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
