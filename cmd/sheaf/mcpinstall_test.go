package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sheaf/internal/must"
)

// TestEntryNamesLastingPath checks that an entry names a path that stays valid when a package manager
// updates the program. A program built for one run is named without a path.
func TestEntryNamesLastingPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	kept, other, link := filepath.Join(dir, "cellar", "1.0", "sheaf"), filepath.Join(dir, "other", "sheaf"),
		filepath.Join(dir, "bin", "sheaf")
	for _, file := range []string{kept, other, link} {
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if file == link {
			err = os.Symlink(kept, link)
		} else {
			err = os.WriteFile(file, nil, 0o755)
		}
		if err != nil {
			t.Skip(err)
		}
	}
	linked := filepath.Join(t.TempDir(), "tmp")
	if err := os.Symlink(dir, linked); err != nil {
		t.Skip(err)
	}
	none := func(string) (string, error) { return "", errors.New("not found") }
	for _, c := range []struct {
		name, temporary string
		look            func(string) (string, error)
		want            string
		found           bool
	}{
		{"a link to this version", "/nowhere", func(string) (string, error) { return link, nil }, link, true},
		{"another program", "/nowhere", func(string) (string, error) { return other, nil }, kept, true},
		{"none in the path", "/nowhere", none, kept, true},
		{"built for one run", dir, func(string) (string, error) { return other, nil }, "sheaf", true},
		{"built for one run, in a folder behind a link", linked, none, "sheaf", false},
		{"built for one run, and not installed", dir, none, "sheaf", false},
		{"beside a folder whose name begins so", filepath.Join(dir, "cell"), none, kept, true},
	} {
		if got, found := lastingProgram(kept, c.temporary, c.look); got != c.want || found != c.found {
			t.Errorf("%s: %s %v, want %s %v", c.name, got, found, c.want, c.found)
		}
	}
}
