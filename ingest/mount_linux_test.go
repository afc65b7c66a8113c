package ingest_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// mountAt mounts a disk until the test ends, with one file unless file is "".
func mountAt(t *testing.T, disk, file string) {
	t.Helper()
	if err := syscall.Mount("sheaf-test", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("it needs the right to mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) }) // this fails after a successful test, which unmounts it
	if file == "" {
		return
	}
	name := filepath.Join(disk, file)
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte("# D\n\nwords on a disk\n"), 0o644))
}

// TestUnmounted checks that a folder which is empty because its disk is unmounted keeps its documents. An emptied
// folder on a mounted disk, or on no separate disk, loses them.
func TestUnmounted(t *testing.T) {
	w := newWorld(t)
	disk := filepath.Join(t.TempDir(), "disk")
	must.Do(t, os.Mkdir(disk, 0o755))
	mount := func() { mountAt(t, disk, "d.md") }
	unmount := func() { must.Do(t, syscall.Unmount(disk, 0)) }
	mount()
	w.write("a.md", "# A\n\nwords\n")
	for _, trees := range [][]catalog.Tree{{{Name: "t", Root: w.root}, {Name: "disk", Root: disk}},
		{{Name: "disk", Root: disk}}} {
		w.o = w.fresh()
		w.o.Trees = trees
		w.run()
		all := finds(t, w.o.Backend, "words")
		unmount()
		at := w.generation()
		if r := w.run(); r.Changes() || !slices.Equal(r.Gone, []string{disk}) || w.generation() != at ||
			finds(t, w.o.Backend, "words") != all {
			t.Errorf("unmounted, %d folders: %+v, %d found of %d: want what was indexed left as it is", len(trees), r,
				finds(t, w.o.Backend, "words"), all)
		}
		s, err := ingest.Scan(t.Context(), w.o)
		check.That(t, err == nil && s.Removed == 0 && len(s.Gone) == 1, "%+v, %v: want nothing to do", s, err)
		mount()
		w.run()
		must.Do(t, os.Remove(filepath.Join(disk, "d.md")))
		r := w.run()
		check.That(t, r.Removed == 1 && len(r.Gone) == 0, "emptied: %+v: want its document removed", r)
		must.Do(t, os.WriteFile(filepath.Join(disk, "d.md"), []byte("# D\n\nwords on a disk\n"), 0o644))
		w.run()
	}
	unmount()
	w.o.Rebuild = true
	r := w.run()
	check.That(t, r.Removed == 1 && len(r.Gone) == 0, "made anew: %+v: want it to take the folder as it is", r)
	w.o.Rebuild = false
	for _, name := range []string{"plain.md", ""} {
		if name != "" {
			must.Do(t, os.WriteFile(filepath.Join(disk, name), []byte("# Plain\n\nwords\n"), 0o644))
		} else if err := os.Remove(filepath.Join(disk, "plain.md")); err != nil {
			t.Fatal(err)
		}
		r := w.run()
		check.That(t, r.Changes() && len(r.Gone) == 0, "a folder that is no disk: %+v", r)
	}
}

// TestUnmountedBelow checks an unmounted disk below the folder or behind a link in it. Its
// documents stay, unless the files were removed while it was mounted, or the folder is excluded or
// gone.
func TestUnmountedBelow(t *testing.T) {
	for name, test := range map[string]struct {
		linked  bool
		called  string                            // "disk" when empty
		while   func(w *world, disk string) error // runs while the disk is not mounted
		removed int
	}{
		"a folder":                 {},
		"a link":                   {linked: true},
		"a name that is not UTF-8": {called: "disk\xe9\xff"},
		"it is left out": {while: func(w *world, _ string) error { w.write(".sheafignore", "disk\n"); return nil },
			removed: 1},
		"it is gone": {while: func(_ *world, disk string) error { return os.Remove(disk) }, removed: 1},
		"it holds something else": {while: func(w *world, _ string) error { w.write("disk/e.md", "words\n"); return nil },
			removed: 1},
		"the link is gone": {linked: true, while: func(w *world, _ string) error {
			return os.Remove(filepath.Join(w.root, "disk"))
		}, removed: 1},
		"a link that is left out": {linked: true, while: func(w *world, _ string) error {
			w.write(".sheafignore", "disk\n")
			return nil
		}, removed: 1},
		"it may not be looked for": {while: func(_ *world, disk string) error { return os.Chmod(disk, 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.o.Walk.FollowLinks = true
			kept := t.TempDir()
			restart := func() { // only the stored catalog remains
				t.Helper()
				c := must.Get(catalog.Open(vfs.Disk{}, kept, catalog.Options{}))
				t.Cleanup(func() { c.Close() })
				w.o.Catalog = c
			}
			restart()
			called := cmp.Or(test.called, "disk")
			disk := filepath.Join(w.root, called)
			if test.linked {
				elsewhere := t.TempDir()
				disk = filepath.Join(elsewhere, "place")
				must.Do(t, os.Symlink(filepath.Join(disk, "notes"), filepath.Join(w.root, called)))
			}
			must.Do(t, os.Mkdir(disk, 0o755))
			mount := func() { mountAt(t, disk, "notes/d.md") }
			mount()
			w.write("a.md", "# A\n\nwords\n")
			must.Equal(t, w.run().Added, 2, "Added")
			restart()
			must.Do(t, syscall.Unmount(disk, 0))
			if test.while != nil {
				must.Do(t, test.while(w, disk))
			}
			for range 2 {
				r := w.run()
				said := slices.ContainsFunc(r.Skipped, func(s catalog.Skip) bool {
					return s.Reason == ingest.ReasonUnreadable && s.Path == called+"/"
				})
				check.That(t, r.Removed == test.removed && said == (test.removed == 0),
					"unmounted: %+v: want %d removed", r, test.removed)
				test.removed = 0
				if test.while != nil {
					break
				}
			}
			if test.while != nil {
				return
			}
			mount()
			r := w.run()
			check.That(t, r.Added == 0 && r.Removed == 0 && len(r.Skipped) == 0, "mounted again: %+v", r)
			must.Do(t, os.RemoveAll(filepath.Join(disk, "notes", "d.md")))
			check.Equal(t, w.run().Removed, 1, "emptied")
		})
	}
}

// TestFolderDisappearsDuringRun checks that documents stay when their folder or its disk disappears while a run
// reads the files. If only files disappear, their documents go.
func TestFolderDisappearsDuringRun(t *testing.T) {
	for name, test := range map[string]struct {
		disk    string // mount point below the folder
		away    func(root string) error
		removed int
	}{
		"the folder": {away: func(root string) error { return os.Rename(root, root+"-away") }},
		"its disk":   {disk: ".", away: func(root string) error { return syscall.Unmount(root, 0) }},
		"a disk below": {disk: "sub", away: func(root string) error {
			return syscall.Unmount(filepath.Join(root, "sub"), 0)
		}},
		"files": {away: func(root string) error { return os.RemoveAll(filepath.Join(root, "sub")) }, removed: 2},
		"files of a disk": {disk: "sub", away: func(root string) error {
			return os.RemoveAll(filepath.Join(root, "sub", "deep"))
		}, removed: 1},
		"all of the files": {disk: ".", away: func(root string) error { return os.RemoveAll(filepath.Join(root, "sub")) },
			removed: 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.root = filepath.Join(w.root, "vault")
			must.Do(t, os.MkdirAll(filepath.Join(w.root, "sub"), 0o755))
			if test.disk != "" {
				mountAt(t, filepath.Join(w.root, test.disk), "")
			}
			w.o.Trees[0].Root = w.root
			w.write("a.md", "words\n")
			w.write("sub/b.md", "words\n")
			w.write("sub/deep/c.md", "words\n")
			must.Equal(t, w.run().Added, 3, "Added")
			w.o.Rebuild = true // the run reads all files
			w.o.Progress = func(p ingest.Progress) {
				if p.Phase != ingest.PhaseIndex {
					return
				}
				w.o.Progress = nil
				if test.away != nil {
					if err := test.away(w.root); err != nil {
						t.Error(err)
					}
					test.away = nil
				}
			}
			if r := w.run(); r.Removed != test.removed || finds(t, w.o.Backend, "words") != 3-test.removed {
				t.Errorf("%+v, %d found: want %d removed", r, finds(t, w.o.Backend, "words"), test.removed)
			}
		})
	}
}
