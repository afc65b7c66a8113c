package catalog

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sheaf/index/vfs"
)

// TestFileMatches: what is recorded of a file on the disk matches as it would where
// descriptions of files are made.
func TestFileMatches(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "ä note.md")
	at := time.Unix(1_700_000_000, 123_456_789)
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.md")
	if err := os.Symlink(name, link); err != nil {
		t.Skip(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	modified := info.ModTime().UnixNano() // disks know some digits of it
	for what, c := range map[string]struct {
		name string
		file FileState
		want bool
	}{
		"the same":        {name, FileState{Size: 4, ModTime: modified}, true},
		"through a link":  {link, FileState{Size: 4, ModTime: modified}, true},
		"another size":    {name, FileState{Size: 5, ModTime: modified}, false},
		"another time":    {name, FileState{Size: 4, ModTime: modified + 1}, false},
		"none":            {name + "x", FileState{Size: 4, ModTime: modified}, false},
		"below a file":    {filepath.Join(name, "x"), FileState{Size: 4, ModTime: modified}, false},
		"no name of one":  {name + "\x00", FileState{Size: 4, ModTime: modified}, false},
		"no name at all":  {"", FileState{}, false},
		"none that is 0s": {name + "x", FileState{}, false},
	} {
		if got, made := c.file.matches(vfs.Disk{}, c.name), c.file.describes(vfs.Disk{}, c.name); got != c.want ||
			made != c.want {
			t.Errorf("%s: %v, by its description %v: want %v", what, got, made, c.want)
		}
	}
}
