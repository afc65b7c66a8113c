package lint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sheaf/internal/must"
)

var schema = regexp.MustCompile(`"(sheaf\.[a-z-]+/[0-9]+)"`)

// TestSchemasAreDescribed checks that doc/ describes every JSON format that the command prints.
func TestSchemasAreDescribed(t *testing.T) {
	var docs strings.Builder
	files, err := filepath.Glob(filepath.Join("..", "..", "doc", "*.md"))
	must.Do(t, err)
	for _, file := range files {
		text := must.Get(os.ReadFile(file))
		docs.Write(text)
	}
	found := 0
	err = filepath.WalkDir(filepath.Join("..", "..", "cmd", "sheaf"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range schema.FindAllSubmatch(text, -1) {
			found++
			if name := string(m[1]); !strings.Contains(docs.String(), "`"+name+"`") {
				t.Errorf("%s prints %s, which doc/json.md does not describe", path, name)
			}
		}
		return err
	})
	if err != nil || found < 10 {
		t.Fatalf("%d schemas, %v", found, err)
	}
}
