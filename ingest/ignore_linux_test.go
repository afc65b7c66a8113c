package ingest_test

import (
	"errors"
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

// TestUnreadIgnoreFileAbove: so it is with those above the folder, of the repository that it
// lies in, and not with what only has the name of one.
func TestUnreadIgnoreFileAbove(t *testing.T) {
	for name, changes := range map[string]bool{".gitignore": false, ".git/info/exclude": false, ".sheafignore": false, "elsewhere": true} {
		for _, dir := range []bool{false, true} {
			w := newWorld(t)
			top := w.root
			w.root = filepath.Join(top, "docs")
			w.o.Trees[0].Root = w.root
			w.write("a.md", "alpha\n")
			for _, folder := range []string{".git/info", "docs/private"} {
				if err := os.MkdirAll(filepath.Join(top, folder), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if r := w.run(); r.Added != 1 {
				t.Fatalf("%+v", r)
			}
			w.write("private/c.md", "gamma\n")
			var err error
			if dir {
				err = os.Mkdir(filepath.Join(top, name), 0o755)
			} else {
				err = os.Symlink("/proc/self/mem", filepath.Join(top, name))
			}
			if err != nil {
				t.Fatal(err)
			}
			if dir { // as in a second worktree of git
				if err := errors.Join(os.RemoveAll(filepath.Join(top, ".git")), os.WriteFile(filepath.Join(top, ".git"), []byte("gitdir: elsewhere\n"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if r := w.run(); r.Changes() != (changes || dir) || r.Removed != 0 || !r.Changes() && (len(r.Skipped) != 1 || !strings.HasSuffix(r.Skipped[0].Detail, ": ../"+name+": input/output error")) {
				t.Errorf("%s, a folder %v: %+v", name, dir, r)
			}
		}
	}
}
