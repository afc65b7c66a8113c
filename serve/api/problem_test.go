package api

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"sheaf"
	"sheaf/vfs"
)

// What holds the index, and where that lies, is for the log and not for callers.
func TestLockedProblem(t *testing.T) {
	locked := &fs.PathError{Op: "lock", Path: "/home/ann/index/LOCK", Err: fmt.Errorf("%w by process 7", vfs.ErrLocked)}
	err := fmt.Errorf("lock catalog: %w", sheaf.WithCategory(sheaf.ErrUnavailable, locked))
	p := problemOf(err, nil)
	if p.Status != 503 || p.retry == 0 || strings.Contains(p.Detail, "ann") || p.cause != err {
		t.Errorf("%+v", p)
	}
}
