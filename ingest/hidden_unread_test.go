package ingest_test

import (
	"os"
	"path/filepath"
	"testing"

	"sheaf/index/catalog"
	"sheaf/ingest"
)

// TestHideCommentsOfUnreadableFile checks that hiding comments removes a document whose file cannot be read
// again, and that it returns when the file is readable.
func TestHideCommentsOfUnreadableFile(t *testing.T) {
	w := newWorld(t)
	disk := filepath.Join(t.TempDir(), "disk")
	must(t, os.Mkdir(disk, 0o755))
	must(t, os.WriteFile(filepath.Join(disk, "d.md"), []byte("alpha <!-- secret -->\n"), 0o644))
	w.o.Trees = append(w.o.Trees, catalog.Tree{Name: "disk", Root: disk})
	w.write("a.md", "alpha\n")
	w.write("pass.md", "alpha %%secret%%\n")
	hide := false
	w.o.HideComments = func() bool { return hide }
	w.run()
	root := w.o.Trees[0].Root
	move := func(from, to string) {
		t.Helper()
		must(t, os.Rename(from, to))
	}
	move(filepath.Join(root, "pass.md"), filepath.Join(root, ".pass.md.icloud"))
	move(disk, disk+".off")
	if r := w.run(); r.Removed != 0 {
		t.Errorf("before: %+v", r)
	}
	hide = true
	r := w.run()
	if r.Removed != 2 || len(r.Skipped) != 1 || len(r.Gone) != 1 || w.view().Docs() != 1 ||
		r.Skipped[0].Reason != ingest.ReasonCloud {
		t.Errorf("hidden: %+v", r)
	}
	if r := w.run(); r.Changes() {
		t.Errorf("again: %+v", r)
	}
	move(filepath.Join(root, ".pass.md.icloud"), filepath.Join(root, "pass.md"))
	move(disk+".off", disk)
	if r := w.run(); r.Added != 2 {
		t.Errorf("back: %+v", r)
	}
}
