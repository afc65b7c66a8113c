package lint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/internal/must"
)

// TestEveryVectorIsTested checks that a test loads every file of worked numbers. The files are not
// in the repository. Without them the test skips.
func TestEveryVectorIsTested(t *testing.T) {
	root := filepath.Join("..", "..")
	folder := filepath.Join(root, "..", "shared", "vectors")
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	must.Do(t, err)
	if len(files) == 0 {
		t.Skipf("no %s: the vectors of the reference systems are not here", folder)
	}
	var tests strings.Builder
	must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	}))
	for _, file := range files {
		if name := filepath.Base(file); !strings.Contains(tests.String(), `"`+name+`"`) {
			t.Errorf("no test names %s: load it in the tests of the package that has to agree with it", name)
		}
	}
}
