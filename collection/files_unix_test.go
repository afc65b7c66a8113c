//go:build unix

package collection_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
)

// TestIndexDeletedUnderServer deletes the index under a server. Every request and readiness report that without the
// path, and writes fail. After another process remakes the index, everything works again.
func TestIndexDeletedUnderServer(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n", "b.bin": "x"}, nil)
	before := reader(t, f, access.Unrestricted())
	index := f.Options.Intake
	if err := os.RemoveAll(index); err != nil {
		t.Fatal(err)
	}
	write := func() error {
		_, err := f.Collection.Write(t.Context(), access.Unrestricted(),
			[]collection.Change{{ID: sheaf.DocumentID(catalog.FreeTree, "given.md"),
				Put: &collection.DocumentInput{Text: "# Given\n"}}})
		return err
	}
	_, reads := f.For(access.Unrestricted())
	_, refreshed := f.Refresh(t.Context())
	for what, err := range map[string]error{"readiness": f.Ready(t.Context()), "a reader": reads, "a change": write(),
		"a look for changes": refreshed} {
		if !errors.Is(err, sheaf.ErrUnavailable) || strings.Contains(err.Error(), index) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if f.Coming(t.Context()) {
		t.Error("callers wait for an index that is gone")
	}
	if n := len(find(t, before, collection.SearchRequest{Text: "harbor", Limit: 10}).Results); n != 1 {
		t.Errorf("a reader of before finds %d", n)
	}
	f.Beside(t).Index(t)
	status, err := reader(t, f, access.Unrestricted()).Status(t.Context())
	if err != nil || status.Documents != 1 || f.Ready(t.Context()) != nil {
		t.Errorf("made again: %+v, %v, %v", status, err, f.Ready(t.Context()))
	}
	if err := write(); err != nil {
		t.Errorf("a change when it is made again: %v", err)
	}
	view := f.Options.Catalog.View()
	defer view.Close()
	if _, err := view.Record(sheaf.DocumentID(catalog.FreeTree, "given.md")); err != nil {
		t.Error(err)
	}
}

// TestUnreadableFileError checks that an unreadable file is not a server failure, and that the error hides
// its path.
func TestUnreadableFileError(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	name := filepath.Join(f.Root, "a.md")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.md", name); err != nil { // root ignores permissions, so use a looping link
		t.Fatal(err)
	}
	r := reader(t, f, access.Unrestricted())
	id := find(t, r, collection.SearchRequest{Text: "harbor", Limit: 10}).Results[0].Doc
	_, err := r.Get(t.Context(), id, collection.GetOptions{})
	if !errors.Is(err, sheaf.ErrUnavailable) || !errors.Is(err, catalog.ErrUnread) ||
		strings.Contains(err.Error(), f.Root) {
		t.Errorf("get: %v", err)
	}
}
