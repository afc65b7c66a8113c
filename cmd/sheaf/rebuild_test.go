package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"sheaf/catalog"
	"sheaf/cmd/sheaf/internal/collection"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/vfs"
)

// TestStoppedBeforeTheEngineIsEmpty: an index that is made anew by a process that ends after
// its first step is not written to by a server that has it open: what that wrote would be
// removed with the rest of the engine, while the catalog took it for indexed.
func TestStoppedBeforeTheEngineIsEmpty(t *testing.T) {
	write, folder, _, index := notesFor(t)
	address := serving(t, folder, index)
	found := func(word, name string) {
		t.Helper()
		waitFor(t, address+"/v1/search?query="+word, func(_ int, body string) bool { return strings.Contains(body, name) })
	}
	found("apples", "a.md")
	killed := &session{app: &app{stderr: io.Discard, err: &terminal.Output{Writer: io.Discard}}, where: collection.Location{Root: folder, Dir: index, Exists: true}}
	if err := killed.drop(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	write(folder, "b.md", "# B\n\nbears\n")
	found("bears", "b.md")
	found("apples", "a.md")
	inAnotherProcess(t, "index", "--in", folder, "--index", index)
	found("bears", "b.md")
	found("apples", "a.md")
	inAnotherProcess(t, "check", "--in", folder, "--index", index)
}

// TestDropWaits: an index that another process writes to is made anew when that is done.
func TestDropWaits(t *testing.T) {
	dir := t.TempDir()
	c, err := catalog.Open(vfs.Disk{}, collection.CatalogDir(dir), catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := &session{app: &app{stderr: io.Discard, err: &terminal.Output{Writer: io.Discard}}, where: collection.Location{Root: t.TempDir(), Dir: dir, Exists: true}}
	for what, lock := range map[string]func() (func() error, error){
		"documents": c.Hold,
		"index":     func() (func() error, error) { return collection.Lock(dir) },
	} {
		release, err := lock()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { time.Sleep(3 * lockStep); done <- release() }()
		if err := errors.Join(s.drop(t.Context(), false), <-done); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
