package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// filesOf writes files into a temporary folder and returns its path without symbolic links.
func filesOf(t *testing.T, texts map[string]string) string {
	t.Helper()
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))
	for path, text := range texts {
		name := filepath.Join(root, filepath.FromSlash(path))
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return root
}

// emptyIndex returns the options of an empty index of a folder.
func emptyIndex(t *testing.T, root string) Options {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{}))
	c := must.Get(catalog.Open(vfs.Disk{}, t.TempDir(), catalog.Options{}))
	b := memory.New(a)
	t.Cleanup(func() { c.Close(); b.Close() })
	return Options{Catalog: c, Backend: b, Trees: []catalog.Tree{{Name: "t", Root: root}}}
}

// found returns the paths of the documents that a walk finds.
func found(t *testing.T, root string) (paths []string) {
	t.Helper()
	w := must.Get(NewWalk(t.Context(), root, WalkOptions{}))
	for _, f := range w.files {
		paths = append(paths, f.Path)
	}
	return paths
}

// TestFoldersReachedTwice checks that a folder is indexed under its own path, also if links lead to
// it. A folder that only links reach has the path of the first link, whichever worker is faster.
func TestFoldersReachedTwice(t *testing.T) {
	texts := map[string]string{"out/far/x.md": "x", "notes/b/own/x.md": "x"}
	for i := range 200 { // several workers then meet in the following folders
		texts[fmt.Sprintf("notes/a/n%d.txt", i)], texts[fmt.Sprintf("notes/b/n%d.txt", i)] = "n", "n"
	}
	top := filesOf(t, texts)
	for link, to := range map[string]string{
		"notes/a/first": "notes/b/own",
		"notes/a/zero":  "out/far",
		"notes/b/far":   "out/far",
		"notes/aa":      "out", // sorts after a/zero and is a second way to its target
		"out/back":      "notes/b",
	} {
		if err := os.Symlink(filepath.Join(top, to), filepath.Join(top, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for range 100 {
		w := must.Get(NewWalk(t.Context(), filepath.Join(top, "notes"), WalkOptions{FollowLinks: true}))
		var found, twice []string
		for _, f := range w.files {
			if filepath.Ext(f.Path) == ".md" {
				found = append(found, f.Path)
			}
		}
		for _, s := range w.skipped {
			twice = append(twice, s.Path+" "+s.Reason)
		}
		want := []string{"a/zero/x.md", "b/own/x.md"}
		must.That(t, slices.Equal(found, want), "found are %q, want %q", found, want)
		want = []string{"a/first symbolic link", "aa/back symbolic link", "aa/far symbolic link",
			"b/far symbolic link"}
		must.That(t, slices.Equal(twice, want), "left out are %q, want %q", twice, want)
	}
}

// TestIndexIsNotEntered checks that a walk does not enter an index: each run would change its
// files. A file of another program with the name of an index file does not stop the walk.
func TestIndexIsNotEntered(t *testing.T) {
	root := filesOf(t, map[string]string{
		"a.md":                        "a",
		"data/index/collection.json":  `{"format":1,"root":` + fmt.Sprintf("%q", t.TempDir()) + `,"sum":"f4caad86"}`,
		"data/index/documents/g.md":   "given",
		"data/index/catalog/MANIFEST": "m",
		"postman/collection.json":     `{"info":{},"format":"2.1","root":"x"}`,
		"postman/b.md":                "b",
		"large/collection.json":       fmt.Sprintf(`{"format":1,"root":%q,"more":"%0100000d"}`, t.TempDir(), 1),
		"large/c.md":                  "c",
	})
	w := must.Get(NewWalk(t.Context(), root, WalkOptions{ListIgnored: true}))
	var found []string
	for _, f := range w.files {
		found = append(found, f.Path)
	}
	want := []string{"a.md", "large/c.md", "postman/b.md"}
	check.That(t, slices.Equal(found, want), "found are %q, want %q", found, want)
	check.That(t, len(w.byRule) == 1 && w.byRule[0].Path == "data/index/" && w.byRule[0].Reason == ReasonFolder,
		"left out by rules: %+v", w.byRule)
}

// TestNestedRepository checks that a repository below the folder follows only its own git rules. Rules of
// .sheafignore above it still apply.
func TestNestedRepository(t *testing.T) {
	root := filesOf(t, map[string]string{
		".git/HEAD": "ref\n", ".git/info/exclude": "outer.md\n", ".gitignore": "secret.md\ninside/anchored.md\nvendored/\n",
		".sheafignore": "private.md\n",
		"a.md":         "a\n", "secret.md": "a\n", "outer.md": "a\n", "plain/secret.md": "a\n", "vendored/.git/HEAD": "ref\n",
		"vendored/b.md":    "a\n",
		"inside/.git/HEAD": "ref\n", "inside/.git/info/exclude": "own.md\n", "inside/.gitignore": "drafts/\n!private.md\n",
		"inside/a.md": "a\n", "inside/secret.md": "a\n", "inside/anchored.md": "a\n", "inside/deep/secret.md": "a\n",
		"inside/deep/outer.md": "a\n",
		"inside/private.md":    "a\n", "inside/deep/own.md": "a\n", "inside/drafts/c.md": "a\n",
		// A worktree follows the excludes of its repository; a folder that git does not accept is no repository.
		".git/worktrees/tree/HEAD": "ref\n", ".git/worktrees/tree/commondir": "../..\n",
		"tree/.git":      "gitdir: ../.git/worktrees/tree\n",
		"tree/secret.md": "a\n", "tree/outer.md": "a\n", "empty/.git/info/exclude": "a.md\n", "empty/a.md": "a\n",
		"empty/secret.md": "a\n",
		"broken/.git":     "gitdir: elsewhere\n", "broken/outer.md": "a\n", "file/.git": "a\n", "file/outer.md": "a\n",
	})
	inside := []string{"a.md", "anchored.md", "deep/outer.md", "deep/secret.md", "secret.md"}
	must.Do(t, os.MkdirAll(filepath.Join(root, "dangling"), 0o755))
	if err := os.Symlink(filepath.Join(root, "nowhere"), filepath.Join(root, "dangling", ".git")); err == nil {
		must.Do(t, os.WriteFile(filepath.Join(root, "dangling", "outer.md"), []byte("a\n"), 0o644))
	}
	want := []string{"a.md", "empty/a.md"}
	for _, path := range inside {
		want = append(want, "inside/"+path)
	}
	got, want := found(t, root), append(want, "tree/secret.md")
	check.That(t, slices.Equal(got, want), "found %q, want %q", got, want)
	check.List(t, found(t, filepath.Join(root, "tree")), []string{"secret.md"}, "files of the worktree alone")
	alone := slices.DeleteFunc(found(t, filepath.Join(root, "inside")), func(path string) bool {
		return path == "private.md"
	})
	check.List(t, alone, inside, "files of the inner repository alone")
}

// TestSheafignoreWinsOverGit checks that .sheafignore wins over the rules of git at any level, as in
// ripgrep. Among rules of one kind, the inner ones win.
func TestSheafignoreWinsOverGit(t *testing.T) {
	root := filesOf(t, map[string]string{
		".git/HEAD": "ref\n", ".sheafignore": "vault/secret.md\n!vault/kept/note.md\n", "vault/.sheafignore": "draft.md\n",
		"vault/in/.sheafignore": "!draft.md\n",
		"vault/.gitignore":      "*\n!*/\n!*.md\n", "vault/kept/.gitignore": "*\n",
		"vault/a.md": "a\n", "vault/a.txt": "a\n", "vault/secret.md": "a\n", "vault/kept/note.md": "a\n",
		"vault/kept/other.md": "a\n", "vault/draft.md": "a\n", "vault/in/draft.md": "a\n",
	})
	for top, want := range map[string][]string{
		"":           {"vault/a.md", "vault/in/draft.md", "vault/kept/note.md"},
		"vault":      {"a.md", "in/draft.md", "kept/note.md"},
		"vault/kept": {"note.md"},
	} {
		check.List(t, found(t, filepath.Join(root, filepath.FromSlash(top))), want, "files in %q", top)
	}
}

// TestFutureChange checks a file that changed while the clock was ahead. While it stays the same,
// no run commits anything, with or without other files and whatever its time.
func TestFutureChange(t *testing.T) {
	for _, c := range []struct {
		others bool
		age    time.Duration
	}{{false, time.Hour}, {true, time.Hour}, {true, -time.Hour}} {
		root := t.TempDir()
		names := []string{"a.md"}
		if c.others {
			names = append(names, "b.md")
		}
		old := time.Now().Add(-c.age)
		for _, name := range names {
			name = filepath.Join(root, name)
			must.Do(t, os.WriteFile(name, []byte("# A\n\nalpha\n"), 0o600))
			must.Do(t, os.Chtimes(name, old, old))
		}
		o := emptyIndex(t, root)
		run := func() (*Report, uint64) {
			o.Walked = must.Get(NewWalk(t.Context(), root, WalkOptions{}))
			o.Walked.files[0].state = time.Now().Add(365 * 24 * time.Hour).UnixNano()
			r := must.Get(Run(t.Context(), o))
			view := o.Catalog.View()
			defer view.Close()
			return r, view.Generation()
		}
		_, first := run()
		if r, second := run(); r.Unchanged != len(names) || second != first {
			t.Errorf("%q: %+v, generation %d and then %d", names, r, first, second)
		}
		// A run still finds a changed text.
		name := filepath.Join(root, "a.md")
		must.Do(t, os.WriteFile(name, []byte("# A\n\nomega\n"), 0o600))
		must.Do(t, os.Chtimes(name, old, old))
		r, _ := run()
		check.That(t, r.Changed == 1, "%q: another text: %+v", names, r)
	}
}
