package vfs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestSweep checks that Sweep removes only the temporary files of a killed process.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, vfs.WriteFile(filepath.Join(dir, "whole"), []byte("x"), 0))
	long := time.Now().Add(-time.Hour)
	for name, old := range map[string]bool{".new-1": true, ".new-2": false, ".other": true, "whole": true} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte("x"), 0o600))
		if old {
			must.Do(t, os.Chtimes(path, long, long))
		}
	}
	must.Do(t, vfs.Sweep(dir, time.Minute))
	left, err := vfs.Disk{}.List(dir)
	check.That(t, err == nil && len(left) == 3 && left[0] == ".new-2" && left[1] == ".other" && left[2] == "whole",
		"left are %q, %v", left, err)
	check.NoError(t, vfs.Sweep(filepath.Join(dir, "none"), 0), "sweep a missing folder")
}
