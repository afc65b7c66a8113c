//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The program can be run by others, the container's user among them, whatever umask
// the release is built with.
func TestProgramIsForEverybody(t *testing.T) {
	name := filepath.Join(t.TempDir(), "program")
	root := smallProgram(t)
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	if err := build(t.Context(), source{version: "1.2.3", commit: "ab", date: day}, target{"linux", "amd64"}, root,
		name); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o755 {
		t.Errorf("mode %o, want 755", info.Mode().Perm())
	}
}
