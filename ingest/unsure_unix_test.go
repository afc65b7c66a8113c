//go:build unix

package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestSameSizeAndTime checks that a run finds another text with the size and time of the old one.
// It reads a file once after only its rights changed, and reports no change.
func TestSameSizeAndTime(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "# A\n\nalpha\n")
	w.write("b.md", "# B\n\nbeta\n")
	w.run()
	wait := func() { time.Sleep(50 * time.Millisecond) } // longer than the clock resolution of any file system here
	info := must.Get(os.Stat(filepath.Join(w.root, "a.md")))
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
	must.Do(t, os.WriteFile(filepath.Join(w.root, "a.md"), []byte("# A\n\nomega\n"), 0o644))
	must.Do(t, os.Chtimes(filepath.Join(w.root, "a.md"), info.ModTime(), info.ModTime()))
	scan(1)
	r := w.run()
	check.That(t, r.Changed == 1 && r.Unchanged == 1, "another text of the same size and time: %+v", r)
	w.sameAsClean("another text of the same size and time")
	quiet("that")
	must.Do(t, os.Chmod(filepath.Join(w.root, "b.md"), 0o600))
	scan(0)
	r = w.run()
	check.That(t, r.Changed == 0 && r.Unchanged == 2 && r.Bytes != 0, "other rights: %+v", r)
	quiet("other rights")
}

// replace writes another text with the size and time of the old one.
func (w *world) replace(path, text string) {
	w.t.Helper()
	name := filepath.Join(w.root, path)
	info := must.Get(os.Stat(name))
	time.Sleep(50 * time.Millisecond) // longer than the clock resolution of any file system here
	must.Do(w.t, os.WriteFile(name, []byte(text), 0o644))
	must.Do(w.t, os.Chtimes(name, info.ModTime(), info.ModTime()))
}

// TestSkippedSameSizeAndTime checks that a run reads a skipped file again if only its text has changed.
func TestSkippedSameSizeAndTime(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", strings.Repeat("\x00\xff\xfe\x01", 100))
	w.write("b.md", "# B\n\nbeta\n")
	must.Equal(t, len(w.run().Skipped), 1, "a binary file")
	r := w.run()
	check.That(t, r.Bytes == 0 && len(r.Skipped) == 1, "a binary file is read again: %+v", r)
	w.replace("a.md", "# A\n\n"+strings.Repeat("alp ", 98)+"abc")
	r = w.run()
	check.That(t, r.Added == 1 && len(r.Skipped) == 0, "a text in its place: %+v", r)
	w.sameAsClean("a file that was left out")
}

// TestUnreadableSameSizeAndTime checks a changed text with the size and time of the old one. Each run
// reports it as unreadable, until a run can read it.
func TestUnreadableSameSizeAndTime(t *testing.T) {
	w := newWorld(t)
	w.write("in/a.md", "# A\n\nalpha\n")
	w.write("b.md", "# B\n\nbeta\n")
	w.run()
	w.replace("in/a.md", "# A\n\nomega\n")
	time.Sleep(50 * time.Millisecond)
	w.write("c.md", "# C\n\nlater\n")
	ctx := context.Background()
	dir := filepath.Join(w.root, "in")
	away := filepath.Join(t.TempDir(), "in") // a moved file keeps its times
	for i := range 2 {
		o := w.o
		o.Walked = must.Get(ingest.NewWalk(ctx, w.root, o.Walk))
		// A folder in the place of a found file cannot be read.
		must.Do(t, os.Rename(dir, away))
		must.Do(t, os.MkdirAll(filepath.Join(dir, "a.md"), 0o755))
		r := must.Get(ingest.Run(ctx, o))
		check.Equal(t, len(r.Skipped), 1, "run %d", i)
		must.Do(t, os.RemoveAll(dir))
		must.Do(t, os.Rename(away, dir))
	}
	w.run()
	w.sameAsClean("another text that could not be read at first")
}

// TestPipes checks that a walk does not wait for pipes with the names of files that it reads.
func TestPipes(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "# A\n\nalpha\n")
	w.write("d/b.md", "# B\n\nbeta\n")
	for _, name := range []string{"collection.json", ".gitignore", ".sheafignore"} {
		if err := syscall.Mkfifo(filepath.Join(w.root, "d", name), 0o600); err != nil {
			t.Skipf("no pipes here: %v", err)
		}
	}
	check.Equal(t, w.run().Added, 2, "documents were added")
}

// TestPipeInPlaceOfFile checks a pipe that replaces a file after the walk. The run does not wait
// for it, and the document of the file stays until the next run.
func TestPipeInPlaceOfFile(t *testing.T) {
	for name, known := range map[string]bool{"a new file": false, "an indexed file": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("a.md", "# A\n\nalpha\n")
			if known {
				w.run()
				w.write("a.md", "# A\n\nalpha beta\n")
			}
			walk := must.Get(ingest.NewWalk(t.Context(), w.root, ingest.WalkOptions{}))
			file := filepath.Join(w.root, "a.md")
			must.Do(t, os.Remove(file))
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Skipf("no pipes here: %v", err)
			}
			check.Equal(t, walk.LanguageSample(), "", "text of the pipe")
			w.o.Walked = walk
			report := w.run()
			check.That(t, report.Added+report.Changed+report.Removed <= 0 && len(report.Skipped) == 1 &&
				report.Skipped[0].Reason == ingest.ReasonUnreadable, "%+v", report)
		})
	}
}
