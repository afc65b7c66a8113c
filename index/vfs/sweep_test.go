package vfs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sheaf/index/vfs"
)

// TestSweep checks that Sweep removes only the temporary files of a killed process.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	if err := vfs.WriteFile(filepath.Join(dir, "whole"), []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	for name, old := range map[string]bool{".new-1": true, ".new-2": false, ".other": true, "whole": true} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if old {
			if err := os.Chtimes(path, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := vfs.Sweep(dir, time.Minute); err != nil {
		t.Fatal(err)
	}
	left, err := vfs.Disk{}.List(dir)
	if err != nil || len(left) != 3 || left[0] != ".new-2" || left[1] != ".other" || left[2] != "whole" {
		t.Errorf("left are %q, %v", left, err)
	}
	if err := vfs.Sweep(filepath.Join(dir, "none"), 0); err != nil {
		t.Errorf("of a folder that is not there: %v", err)
	}
}
