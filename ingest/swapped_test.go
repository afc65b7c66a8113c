package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sheaf"
)

// TestWatchSwappedFolders checks that after two folders swap their names, Watch still finds changes
// in their subfolders at once.
func TestWatchSwappedFolders(t *testing.T) {
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
	o := emptyIndex(t, root)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- Watch(ctx, o, func(_ *Report, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}()
	indexed := func() bool {
		view := o.Catalog.View()
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
