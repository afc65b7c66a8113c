package lint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestLengthsOfPages checks that no page is too long to read. Pages that a test writes from the program do not count.
func TestLengthsOfPages(t *testing.T) {
	root := filepath.Join("..", "..")
	written := map[string]bool{"errors.md": true, "json-reference.md": true, "profiles.md": true}
	for pattern, most := range map[string]int{"README.md": 140, "doc/*.md": 200, "doc/decisions/*.md": 40} {
		names := must.Get(filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern))))
		must.That(t, len(names) > 0, "no %s", pattern)
		for _, name := range names {
			lines := bytes.Count(must.Get(os.ReadFile(name)), []byte("\n"))
			check.That(t, lines <= most || written[filepath.Base(name)], "%s: %d lines, the limit is %d", name, lines, most)
		}
	}
}
