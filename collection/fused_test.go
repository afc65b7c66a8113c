package collection_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestFusedContent checks that a result without its own text, such as a heading above other
// headings, has its title as content.
func TestFusedContent(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"codes.md": "# Codes of vectors\n\n## How codes lie\n\nEight lie " +
		"together.\n"}, func(*collection.Options) {})
	found, err := reader(t, f, access.Unrestricted()).Fused(t.Context(), "codes", "rrf", 60, 5)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for _, r := range found.Results {
		content[string(r.ID)] = r.Content
	}
	for id, want := range map[string]string{"notes:codes.md": "Codes of vectors",
		"notes:codes.md#codes-of-vectors": "Codes of vectors", "notes:codes.md#how-codes-lie": "\nEight lie together.\n"} {
		if content[id] != want {
			t.Errorf("%s has the content %q, want %q: %q", id, content[id], want, content)
		}
	}
}

// TestFusedLimit checks that Fused has the same limit as the pages of a search.
func TestFusedLimit(t *testing.T) {
	r := reader(t, collectiontest.Open(t, map[string]string{"a.md": "# A\n\nwords\n"}, nil), access.Unrestricted())
	for limit, ok := range map[int]bool{0: false, 1: true, collection.MaxWindow: true, collection.MaxWindow + 1: false} {
		if _, err := r.Fused(t.Context(), "words", "rrf", 60, limit); (err == nil) != ok ||
			!ok && !errors.Is(err, sheaf.ErrInvalid) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// TestFusedStale checks that results with changed or missing files only lack content. Both searches
// still count as complete.
func TestFusedStale(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "A harbor.\n", "b.md": "A harbor.\n", "c.md": "A harbor.\n"}, nil)
	writeFile(t, filepath.Join(f.Root, "a.md"), "Another harbor, and more.\n")
	if err := os.Remove(filepath.Join(f.Root, "b.md")); err != nil {
		t.Fatal(err)
	}
	found, err := reader(t, f, access.Unrestricted()).Fused(t.Context(), "harbor", "rrf", 60, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"2 of the results changed since they were indexed, or cannot be read: they have no content"}
	if len(found.Results) != 3 || found.Degraded || !slices.Equal(found.Warnings, want) {
		t.Errorf("%d results, degraded %v, warnings %q", len(found.Results), found.Degraded, found.Warnings)
	}
}
