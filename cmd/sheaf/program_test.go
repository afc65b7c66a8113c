package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/internal/must"
)

// TestProgramAndCommandMakeSameIndex checks that a Go program and the command make the same index. Each leaves the
// other's index unchanged.
func TestProgramAndCommandMakeSameIndex(t *testing.T) {
	n := newNotes(t)
	// A file that changed a moment ago is read again, since a second change may have the same time.
	hourAgo := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(filepath.Join(n.folder, "a.md"), hourAgo, hourAgo))
	search := func() {
		t.Helper()
		c := must.Get(collection.Open(n.folder, collection.WithIndex(n.index)))
		defer c.Close()
		if a, err := c.Search(t.Context(), "commit"); err != nil || len(a.Warnings) > 0 {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	state := func() (generation uint64, docs int) {
		_, s := opened(t, n.folder, n.index, openOptions{Refresh: true})
		defer s.Close()
		return s.View.Generation(), s.View.Docs()
	}
	search()
	made, docs := state()
	if docs == 0 {
		t.Error("the program indexed nothing")
	}
	search()
	if now, n := state(); now != made || n != docs {
		t.Errorf("generation %d with %d documents, before %d with %d", now, n, made, docs)
	}
}
