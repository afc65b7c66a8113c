package lint_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

var markdownLink = regexp.MustCompile(`(?:\]\(|\bsrc(?:set)?=")([^)"\s]+)[)"]`)

// TestLinksOfDocuments checks every relative link of the repository's Markdown files and of llms.txt, also to headings
// and pictures.
func TestLinksOfDocuments(t *testing.T) {
	root := filepath.Join("..", "..")
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "*.md", "llms.txt").Output()
	if err != nil {
		t.Skipf("git does not list this folder's files: %v", err)
	}
	checked := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if strings.Contains(name, "testdata/") {
			continue
		}
		text := must.Get(os.ReadFile(filepath.Join(root, name)))
		for _, m := range markdownLink.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			if decoded, err := url.PathUnescape(target); err == nil {
				target = decoded
			}
			checked++
			path := filepath.Join(root, filepath.Dir(name), target)
			if target == "" {
				path = filepath.Join(root, name)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if anchor != "" && filepath.Ext(path) == ".md" && !hasHeading(t, path, anchor) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
	must.That(t, checked >= 10, "only %d links found", checked)
}

// hasHeading reports whether a Markdown file has a heading with this anchor.
func hasHeading(t *testing.T, path, anchor string) bool {
	t.Helper()
	text := must.Get(os.ReadFile(path))
	cutter := must.Get(chunk.New(chunk.Options{}))
	doc := cutter.Chunk("doc", filepath.Base(path), text)
	return slices.ContainsFunc(doc.Chunks, func(c sheaf.Chunk) bool { return c.Slug == anchor })
}
