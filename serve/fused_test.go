package serve_test

import (
	"testing"

	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/servetest"
)

// TestFusedContent: what has no text of its own, as a heading with nothing but headings
// below it, is its title to whoever reads what was found.
func TestFusedContent(t *testing.T) {
	f := servetest.Open(t, map[string]string{"codes.md": "# Codes of vectors\n\n## How codes lie\n\nEight lie together.\n"}, func(*serve.Options) {})
	found, err := reader(t, f, access.Unrestricted()).Fused(t.Context(), "codes", "rrf", 60, 5)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for _, r := range found.Results {
		content[string(r.ID)] = r.Content
	}
	for id, want := range map[string]string{"notes:codes.md": "Codes of vectors", "notes:codes.md#codes-of-vectors": "Codes of vectors", "notes:codes.md#how-codes-lie": "\nEight lie together.\n"} {
		if content[id] != want {
			t.Errorf("%s has the content %q, want %q: %q", id, content[id], want, content)
		}
	}
}
