package ingest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/ingest"
)

// TestUnreadIgnoreFile: while an ignore file cannot be read nothing of its folder is looked
// at: what it keeps out stays out, what was indexed stays.
func TestUnreadIgnoreFile(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "alpha\n")
	w.write("sub/b.md", "beta\n")
	w.write("sub/private/c.md", "gamma\n")
	w.write("sub/.sheafignore", "private/\n")
	if r := w.run(); r.Added != 2 {
		t.Fatalf("%+v", r)
	}
	ignores := filepath.Join(w.root, "sub", ".sheafignore")
	if err := os.Remove(ignores); err != nil {
		t.Fatal(err)
	}
	// A regular file that nobody can read from its beginning.
	if err := os.Symlink("/proc/self/mem", ignores); err != nil {
		t.Fatal(err)
	}
	r := w.run()
	if r.Changes() || len(r.Skipped) != 1 || r.Skipped[0].Path != "sub/" || r.Skipped[0].Reason != ingest.ReasonUnreadable || !strings.Contains(r.Skipped[0].Detail, "ignore file") {
		t.Errorf("%+v", r)
	}
	if err := os.Remove(ignores); err != nil {
		t.Fatal(err)
	}
	if r := w.run(); r.Added != 1 || r.Removed != 0 {
		t.Errorf("without the ignore file: %+v", r)
	}
}
