package main

import (
	"io"
	"os"
	"testing"

	"sheaf/internal/must"
)

// TestClosedPipeIsNoError checks that a reader that closes the pipe early causes no error.
func TestClosedPipeIsNoError(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer w.Close()
	must.Do(t, r.Close())
	if _, err = io.WriteString(w, "text"); !isUnread(err) {
		t.Errorf("written to nobody: %v", err)
	}
	if isUnread(nil) || isUnread(os.ErrPermission) {
		t.Error("another fault, or none, is taken for that")
	}
}
