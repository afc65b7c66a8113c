//go:build unix

package ingest

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestUnreadableFolder checks that documents of a folder which cannot be listed stay until a run can
// list it. They go when the folder is gone or after a rebuild. The test uses the limit of open
// files, since rights do not stop every user.
func TestUnreadableFolder(t *testing.T) {
	for name, test := range map[string]struct {
		folder  string // cannot be listed
		rebuild bool
		removed int
	}{
		"a folder":         {folder: "sub", removed: 1},
		"of like names":    {folder: "su", removed: 1},
		"below another":    {folder: "sub/deep", removed: 1},
		"the top":          {folder: ".", removed: 0},
		"none":             {folder: "none", removed: 1},
		"all is made anew": {folder: "sub", rebuild: true, removed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, file := range []string{"sub/deep/a.md", "sub/b.md", "su/d.md", "gone.md"} {
				must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755))
				must.Do(t, os.WriteFile(filepath.Join(root, file), []byte("words of "+file+"\n"), 0o644))
			}
			o := emptyIndex(t, root)
			if r, err := Run(t.Context(), o); err != nil || r.Added != 4 {
				t.Fatalf("%+v, %v", r, err)
			}
			must.Do(t, os.Remove(filepath.Join(root, "gone.md")))
			o.Rebuild = test.rebuild
			o.Walked = walkWithout(t, root, test.folder)
			r := must.Get(Run(t.Context(), o))
			check.Equal(t, r.Removed, test.removed, "Removed")
		})
	}
}

// walkWithout returns a walk that cannot open one folder.
func walkWithout(t *testing.T, root, folder string) *Walk {
	t.Helper()
	var before syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	limit := func(to syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &to); err != nil {
			t.Error(err)
		}
	}
	defer limit(before)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one folder after another
	w := must.Get(NewWalk(t.Context(), root, WalkOptions{watch: func(path string, isDir bool) {
		if limit(before); isDir && path == realPath(filepath.Join(root, folder)) {
			limit(syscall.Rlimit{Cur: 0, Max: before.Max})
		}
	}}))
	return w
}
