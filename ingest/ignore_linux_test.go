package ingest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestUnreadableIgnoreFile checks that a walk skips a folder whose ignore file cannot be read. Files
// that the rules exclude stay out, and indexed documents stay.
func TestUnreadableIgnoreFile(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "alpha\n")
	w.write("sub/b.md", "beta\n")
	w.write("sub/private/c.md", "gamma\n")
	w.write("sub/.sheafignore", "private/\n")
	must.Equal(t, w.run().Added, 2, "Added")
	ignores := filepath.Join(w.root, "sub", ".sheafignore")
	must.Do(t, os.Remove(ignores))
	// A regular file that no process can read from its beginning.
	must.Do(t, os.Symlink("/proc/self/mem", ignores))
	r := w.run()
	check.That(t, !r.Changes() && len(r.Skipped) == 1 && r.Skipped[0].Path == "sub/" &&
		r.Skipped[0].Reason == ingest.ReasonUnreadable && strings.Contains(r.Skipped[0].Detail, "ignore file"), "%+v", r)
	must.Do(t, os.Remove(ignores))
	r = w.run()
	check.That(t, r.Added == 1 && r.Removed == 0, "without the ignore file: %+v", r)
}

// TestUnknownIgnoreRules checks that a run reads nothing while ignore rules are unknown, as with a broken link.
// Indexed documents stay. A folder in the place of an ignore file excludes nothing.
func TestUnknownIgnoreRules(t *testing.T) {
	const unreadable, nowhere = "/proc/self/mem", "not-mounted/ignore" // no process can read /proc/self/mem
	for name, test := range map[string]struct {
		file, leadsTo string
		known         bool
	}{
		"above":                        {file: ".gitignore", leadsTo: unreadable},
		"above, of its own":            {file: "folder/.sheafignore", leadsTo: unreadable},
		"excludes of the repository":   {file: ".git/info/exclude", leadsTo: unreadable},
		"a link above leads nowhere":   {file: ".sheafignore", leadsTo: nowhere},
		"a link leads nowhere":         {file: "folder/vault/.sheafignore", leadsTo: nowhere},
		"a link leads to itself":       {file: "folder/vault/.gitignore", leadsTo: ".gitignore"},
		"the repository leads nowhere": {file: "folder/.git", leadsTo: nowhere},
		"a folder":                     {file: "folder/.gitignore", leadsTo: "vault", known: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			top := t.TempDir()
			w.root = filepath.Join(top, "folder", "vault")
			w.o.Trees[0].Root = w.root
			for _, dir := range []string{w.root, filepath.Join(top, ".git", "info")} {
				must.Do(t, os.MkdirAll(dir, 0o755))
			}
			file := filepath.Join(top, test.file)
			if test.file != "folder/.git" && !test.known {
				must.Do(t, os.WriteFile(file, []byte("secret.md\n"), 0o600))
			} else if err := os.WriteFile(filepath.Join(top, ".gitignore"), []byte("secret.md\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			w.write("a.md", "alpha\n")
			w.write("secret.md", "beta\n")
			must.Equal(t, w.run().Added, 1, "Added")
			w.write("b.md", "beta\n")
			_ = os.Remove(file) // the repository may not exist yet
			must.Do(t, os.Symlink(test.leadsTo, file))
			r := w.run()
			unknown := len(r.Skipped) == 1 && r.Skipped[0].Path == "." && r.Skipped[0].Reason == ingest.ReasonUnreadable &&
				!strings.Contains(r.Skipped[0].Detail, top)
			check.That(t, unknown != test.known && r.Changes() == test.known, "%+v", r)
			must.Do(t, os.Remove(file))
			want := 2
			if test.known {
				want = 0
			} else if test.file == "folder/.git" {
				want = 1
			}
			r = w.run()
			check.That(t, r.Added == want && r.Removed == 0, "when it is gone: %+v: want %d added", r, want)
		})
	}
}

// TestWorktreeIsNoFault checks that a .git file, as in a second worktree, is no fault and excludes
// nothing. Neither does a folder with the name of an ignore file.
func TestWorktreeIsNoFault(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "alpha\n")
	w.write(".git", "gitdir: elsewhere\n")
	w.write(".gitignore/b.md", "beta\n")
	r := w.run()
	check.That(t, r.Added == 2 && len(r.Skipped) == 0, "%+v", r)
}

// TestPipesOfGit checks that a walk does not wait for a pipe in the place of a file of git.
func TestPipesOfGit(t *testing.T) {
	w := newWorld(t)
	w.write("inside/a.md", "alpha\n")
	w.write("inside/.git/HEAD", "ref\n")
	w.write("other/a.md", "alpha\n")
	for _, name := range []string{"inside/.git/commondir", "other/.git"} {
		must.Do(t, syscall.Mkfifo(filepath.Join(w.root, name), 0o600))
	}
	check.Equal(t, w.run().Added, 2, "Added")
}
