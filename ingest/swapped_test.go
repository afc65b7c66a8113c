package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// TestWatchSwappedFolders checks that after two folders swap their names, Watch still finds changes
// in their subfolders at once.
func TestWatchSwappedFolders(t *testing.T) {
	if w, err := fsnotify.NewWatcher(); err != nil {
		t.Skipf("the system does not tell of changes: %v", err)
	} else if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{root}, names...)...) }
	// save writes a text of a new length each time; the length identifies the file.
	length, lengths := int64(0), map[string]int64{}
	save := func(folder string) {
		text := fmt.Appendf(nil, "# A\n\nalpha %0*d\n", length, 0)
		length++
		lengths[folder] = int64(len(text))
		must(t, os.WriteFile(at(folder, "sub", "a.md"), text, 0o600))
	}
	for _, folder := range []string{"old", "new"} {
		must(t, os.MkdirAll(at(folder, "sub"), 0o755))
		save(folder)
	}
	a, err := analysis.New(analysis.Options{})
	must(t, err)
	c, err := catalog.Open(vfs.Disk{}, t.TempDir(), catalog.Options{})
	must(t, err)
	defer c.Close()
	b := memory.New(a)
	defer b.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- Watch(ctx, Options{Catalog: c, Backend: b, Trees: []catalog.Tree{{Name: "t", Root: root}}},
			func(_ *Report, err error) {
				if err != nil {
					t.Error(err)
				}
			})
	}()
	indexed := func() bool {
		view := c.View()
		defer view.Close()
		for folder, length := range lengths {
			if state, ok, err := view.File(sheaf.DocumentID("t", folder+"/sub/a.md")); err != nil || !ok ||
				state.Size != length {
				return false
			}
		}
		return true
	}
	wait := func(what string) {
		t.Helper()
		for late := time.Now().Add(rescan / 3); !indexed(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%s: not all is indexed", what)
			}
		}
	}
	wait("the first run")
	for _, names := range [][2]string{{"old", "between"}, {"new", "old"}, {"between", "new"}} {
		must(t, os.Rename(at(names[0]), at(names[1])))
	}
	lengths["old"], lengths["new"] = lengths["new"], lengths["old"]
	wait("renamed")
	for _, folder := range []string{"old", "new", "old", "new"} {
		save(folder)
		wait("saved in " + folder)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
