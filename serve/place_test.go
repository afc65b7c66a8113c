package serve_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/servetest"
)

// TestPlaceIsNotTold: of a file that changed since it was indexed callers are told which
// document it is, and not where it lies.
func TestPlaceIsNotTold(t *testing.T) {
	f := servetest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	f.Index(t)
	r := reader(t, f, access.Unrestricted())
	if err := os.WriteFile(filepath.Join(f.Root, "a.md"), []byte("# A\n\nNo harbor.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	id := sheaf.DocumentID(servetest.Tree, "a.md")
	_, got := r.Get(t.Context(), id, serve.GetOptions{})
	_, similar := r.Similar(t.Context(), id, serve.SearchRequest{})
	for _, err := range []error{got, similar} {
		if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), string(id)) || strings.Contains(err.Error(), f.Root) {
			t.Errorf("told: %v", err)
		}
	}
}
