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
