//go:build unix

package catalog_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"sheaf/index/catalog"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestTextOfPipe checks a pipe in the place of an indexed file. It does not count as the file, and
// Text does not wait for it.
func TestTextOfPipe(t *testing.T) {
	root := t.TempDir()
	rec := record(t, "n.md", "# one\n\ntext\n")
	c := open(t, t.TempDir())
	must.Do(t, c.Update(t.Context(), catalog.Update{Put: []catalog.Record{rec},
		Settings: &catalog.Settings{Trees: []catalog.Tree{{Name: "notes", Root: root}}}}))
	if err := syscall.Mkfifo(filepath.Join(root, "n.md"), 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	v := c.View()
	defer v.Close()
	text, err := v.Text("notes:n.md")
	check.That(t, errors.Is(err, catalog.ErrStale), "%q, %v", text, err)
}
