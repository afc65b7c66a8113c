package collection

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFileOf checks that a file name may contain a #.
func TestFileOf(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.md", "C# course/b.md"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, file string
		is         bool
	}{
		{"a.md", "a.md", true},
		{"a.md#x#y", "a.md", true},
		{"C# course/b.md#x", "C# course/b.md", true},
		{"C# course/gone.md#x", "C", false},
		{"gone.md#x", "gone.md", false},
	} {
		if file, is := fileOf(root, c.path); file != c.file || is != c.is {
			t.Errorf("%s is of %q, %v: want %q, %v", c.path, file, is, c.file, c.is)
		}
	}
	if _, is := fileOf("", "given.md"); !is {
		t.Error("a text that came without a file was missed")
	}
}
