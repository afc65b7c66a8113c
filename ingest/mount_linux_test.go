package ingest_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"sheaf/catalog"
	"sheaf/ingest"
)

// TestUnmounted: a folder that is left empty when its disk is unmounted keeps what is
// indexed of it, also when it is the only one; one that is emptied while its disk is there,
// and one that was never a disk, do not.
func TestUnmounted(t *testing.T) {
	w := newWorld(t)
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	mount := func() {
		t.Helper()
		if err := syscall.Mount("sheaf-test", disk, "tmpfs", 0, "size=1m"); err != nil {
			t.Skipf("TestUnmounted needs the right to mount: %v", err)
		}
		if err := os.WriteFile(filepath.Join(disk, "d.md"), []byte("# D\n\nwords on a disk\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
	unmount := func() {
		t.Helper()
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Fatal(err)
		}
	}
	mount()
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) }) // it is not mounted where all went well
	w.write("a.md", "# A\n\nwords\n")
	for _, trees := range [][]catalog.Tree{{{Name: "t", Root: w.root}, {Name: "disk", Root: disk}}, {{Name: "disk", Root: disk}}} {
		w.o = w.fresh()
		w.o.Trees = trees
		w.run()
		all := finds(t, w.o.Backend, "words")
		unmount()
		at := w.generation()
		if r := w.run(); r.Changes() || !slices.Equal(r.Gone, []string{disk}) || w.generation() != at || finds(t, w.o.Backend, "words") != all {
			t.Errorf("unmounted, %d folders: %+v, %d found of %d: want what was indexed left as it is", len(trees), r, finds(t, w.o.Backend, "words"), all)
		}
		if s, err := ingest.Scan(t.Context(), w.o); err != nil || s.Removed != 0 || len(s.Gone) != 1 {
			t.Errorf("%+v, %v: want nothing to do", s, err)
		}
		mount()
		w.run()
		if err := os.Remove(filepath.Join(disk, "d.md")); err != nil {
			t.Fatal(err)
		}
		if r := w.run(); r.Removed != 1 || len(r.Gone) != 0 {
			t.Errorf("emptied: %+v: want its document removed", r)
		}
		if err := os.WriteFile(filepath.Join(disk, "d.md"), []byte("# D\n\nwords on a disk\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		w.run()
	}
	unmount()
	w.o.Rebuild = true
	if r := w.run(); r.Removed != 1 || len(r.Gone) != 0 {
		t.Errorf("made anew: %+v: want it to take the folder as it is", r)
	}
	w.o.Rebuild = false
	for _, name := range []string{"plain.md", ""} {
		if name != "" {
			if err := os.WriteFile(filepath.Join(disk, name), []byte("# Plain\n\nwords\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(filepath.Join(disk, "plain.md")); err != nil {
			t.Fatal(err)
		}
		if r := w.run(); !r.Changes() || len(r.Gone) != 0 {
			t.Errorf("a folder that is no disk: %+v", r)
		}
	}
}
