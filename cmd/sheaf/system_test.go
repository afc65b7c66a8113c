package main

import (
	"io"
	"os"
	"testing"
)

// Who reads the first lines of an answer and ends is no fault.
func TestUnread(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err = io.WriteString(w, "text"); !isUnread(err) {
		t.Errorf("written to nobody: %v", err)
	}
	if isUnread(nil) || isUnread(os.ErrPermission) {
		t.Error("another fault, or none, is taken for that")
	}
}
