package http

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/vfs"
)

// TestLockedProblem checks that only the log names the process and the path of a locked index.
func TestLockedProblem(t *testing.T) {
	locked := &fs.PathError{Op: "lock", Path: "/home/ann/index/LOCK", Err: fmt.Errorf("%w by process 7", vfs.ErrLocked)}
	err := fmt.Errorf("lock catalog: %w", sheaf.WithCategory(sheaf.ErrUnavailable, locked))
	p := problemOf(err, nil)
	if p.Status != 503 || p.retry == 0 || strings.Contains(p.Detail, "ann") || p.cause != err {
		t.Errorf("%+v", p)
	}
}

// TestDamagedProblem checks that a damaged index asks for a retry, and that only the log has the path.
func TestDamagedProblem(t *testing.T) {
	err := fmt.Errorf("branch words on the index: /home/ann/index/1.seg: %w", vfs.ErrCorrupt)
	if p := problemOf(err, nil); p.Status != 503 || p.retry == 0 || strings.Contains(p.Detail, "ann") || p.cause != err {
		t.Errorf("%+v", p)
	}
}
