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

var (
	member   = regexp.MustCompile("`json:\"([A-Za-z0-9_]+)")
	codeSpan = regexp.MustCompile("(?s)```.*?```|`[^`]+`")
)

// TestMembersAreDescribed checks that the documents of JSON name every member that the command prints.
func TestMembersAreDescribed(t *testing.T) {
	described := map[string]bool{"cursor": true} // a member of the file in which sheaf copy keeps its progress
	for _, page := range []string{"json.md", "json-measuring.md", "explanations.md"} {
		text := must.Get(os.ReadFile(filepath.Join("..", "..", "doc", page)))
		for _, span := range codeSpan.FindAllString(string(text), -1) {
			for _, name := range regexp.MustCompile(`\w+`).FindAllString(span, -1) {
				described[name] = true
			}
		}
	}
	files := must.Get(filepath.Glob(filepath.Join("..", "..", "cmd", "sheaf", "*.go")))
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range member.FindAllSubmatch(must.Get(os.ReadFile(file)), -1) {
			if name := string(m[1]); !described[name] {
				t.Errorf("%s prints the member %s, which doc/json.md does not describe", file, name)
			}
		}
	}
}
