//go:build unix

package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sheaf/ingest"
)

// TestSameSizeAndTime: another text of the size and time that a file had is seen; a
// file of which only the rights changed is read once and is no change.
func TestSameSizeAndTime(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "# A\n\nalpha\n")
	w.write("b.md", "# B\n\nbeta\n")
	w.run()
	wait := func() { time.Sleep(50 * time.Millisecond) } // longer than any step of the clock of a file system here
	info, err := os.Stat(filepath.Join(w.root, "a.md"))
	if err != nil {
		t.Fatal(err)
	}
	scan := func(changed int) {
		t.Helper()
		if r, err := ingest.Scan(context.Background(), w.o); err != nil || r.Changed != changed || r.Unchanged != 2-changed {
			t.Errorf("a scan: %+v, %v; want %d changed", r, err, changed)
		}
	}
	quiet := func(what string) {
		t.Helper()
		wait()
		view := w.o.Catalog.View()
		before := view.Generation()
		view.Close()
		r := w.run()
		view = w.o.Catalog.View()
		defer view.Close()
		if r.Bytes != 0 || r.Unchanged != 2 || view.Generation() != before {
			t.Errorf("after %s a run does something: %+v, generation %d and %d", what, r, before, view.Generation())
		}
	}
	quiet("nothing")
	if err := os.WriteFile(filepath.Join(w.root, "a.md"), []byte("# A\n\nomega\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(w.root, "a.md"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	scan(1)
	if r := w.run(); r.Changed != 1 || r.Unchanged != 1 {
		t.Errorf("another text of the same size and time: %+v", r)
	}
	w.sameAsClean("another text of the same size and time")
	quiet("that")
	if err := os.Chmod(filepath.Join(w.root, "b.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	scan(0)
	if r := w.run(); r.Changed != 0 || r.Unchanged != 2 || r.Bytes == 0 {
		t.Errorf("other rights: %+v", r)
	}
	quiet("other rights")
}
