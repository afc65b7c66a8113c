package lint_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksOfDocuments follows every relative link of the repository's own
// Markdown files.
func TestLinksOfDocuments(t *testing.T) {
	root := filepath.Join("..", "..")
	out, err := exec.Command("git", "-C", root, "ls-files", "*.md").Output()
	if err != nil {
		t.Skipf("git does not list this folder's files: %v", err)
	}
	checked := 0
	for name := range strings.FieldsSeq(string(out)) {
		if strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range markdownLink.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if decoded, err := url.PathUnescape(target); err == nil {
				target = decoded
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			}
		}
	}
	if checked < 10 {
		t.Fatalf("only %d links found", checked)
	}
}
