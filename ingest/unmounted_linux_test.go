package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestDiskUnmountedDuringWalk checks that documents of a disk stay when it is unmounted during a walk.
func TestDiskUnmountedDuringWalk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("sheaf-test", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("it needs the right to mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) }) // this fails after a successful test, which unmounts it
	must.Do(t, os.WriteFile(filepath.Join(disk, "d.md"), []byte("words on a disk\n"), 0o644))
	o := emptyIndex(t, disk)
	if r, err := Run(t.Context(), o); err != nil || r.Added != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	o.Walk.watch = func(string, bool) {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}
	if r, err := Run(t.Context(), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("unmounted meanwhile: %+v, %v", r, err)
	}
	o.Walk.watch = nil
	r, err := Run(t.Context(), o)
	check.That(t, err == nil && !r.Changes() && len(r.Gone) == 1, "unmounted: %+v, %v", r, err)
}
