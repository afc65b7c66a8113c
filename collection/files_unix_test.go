//go:build unix

package collection_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestIndexDeletedUnderServer deletes the index under a server. Every request and readiness report that without the
// path, and writes fail. After another process remakes the index, everything works again.
func TestIndexDeletedUnderServer(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n", "b.bin": "x"}, nil)
	before := reader(t, f, access.Unrestricted())
	index := f.Options.Intake
	must.Do(t, os.RemoveAll(index))
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
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && !strings.Contains(err.Error(), index), "%s: %v", what, err)
	}
	check.That(t, !f.Coming(t.Context()), "callers wait for an index that is gone")
	check.Equal(t, len(find(t, before, collection.SearchRequest{Text: "harbor", Limit: 10}).Results), 1,
		"hits of an earlier reader")
	f.Beside(t).Index(t)
	status, err := reader(t, f, access.Unrestricted()).Status(t.Context())
	if err != nil || status.Documents != 1 || f.Ready(t.Context()) != nil {
		t.Errorf("made again: %+v, %v, %v", status, err, f.Ready(t.Context()))
	}
	check.NoError(t, write(), "a change when it is made again")
	view := f.Options.Catalog.View()
	defer view.Close()
	if _, err := view.Record(sheaf.DocumentID(catalog.FreeTree, "given.md")); err != nil {
		t.Error(err)
	}
}

// TestHangingAddedFolder checks that a command does not wait forever for an added folder
// on a hanging drive.
func TestHangingAddedFolder(t *testing.T) {
	hung := filepath.Join(t.TempDir(), "hung")
	if err := syscall.Mkfifo(hung, 0o600); err != nil { // opening the pipe waits for a writer
		t.Skipf("no named pipes: %v", err)
	}
	defer func(before time.Duration) { collection.AnswerTime = before }(collection.AnswerTime)
	collection.AnswerTime = time.Second // a healthy folder answers sooner
	trees := []catalog.Tree{{Name: "t", Root: t.TempDir()}, {Name: "hung", Root: hung}}
	check.Fails(t, collection.SomeFolder(trees), sheaf.ErrUnavailable, hung, "SomeFolder")
	writer := must.Get(os.OpenFile(hung, os.O_RDWR, 0))
	time.Sleep(50 * time.Millisecond) // lets the waiting opener end
	must.Do(t, writer.Close())
}
