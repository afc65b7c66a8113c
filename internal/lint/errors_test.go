package lint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var listedError = regexp.MustCompile("`([^`]+)`")

// TestLinksOfDocumentsToErrors checks that the errors in doc/troubleshooting.md exist in the program.
func TestLinksOfDocumentsToErrors(t *testing.T) {
	root := filepath.Join("..", "..")
	var source strings.Builder
	for _, dir := range []string{"cmd/sheaf", "collection", "door", "index", "ingest", "model", "profile", "store"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// A message may continue on the next line.
	program := regexp.MustCompile("\"\\s*\\+\\s*\"").ReplaceAllString(source.String(), "")
	text, err := os.ReadFile(filepath.Join(root, "doc", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(text), "\n## ")
	listed := 0
	for line := range strings.Lines(tables) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, m := range listedError.FindAllStringSubmatch(strings.Split(line, " | ")[0], -1) {
			listed++
			for part := range strings.SplitSeq(m[1], "…") {
				if !strings.Contains(program, part) {
					t.Errorf("doc/troubleshooting.md lists %q, and no message of the program has %q", m[1], part)
				}
			}
		}
	}
	if listed < 50 {
		t.Errorf("doc/troubleshooting.md lists %d errors", listed)
	}
}
