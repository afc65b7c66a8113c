package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sheaf/index/vfs"
	"sheaf/internal/must"
)

// TestStill checks that Still is true until a file's size, time or identity changes.
func TestStill(t *testing.T) {
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	write := func(name, text string) error {
		return errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, at, at))
	}
	for what, c := range map[string]struct {
		change func(name string) error
		still  bool
		err    error
	}{
		"nothing": {func(string) error { return nil }, true, nil},
		"written": {func(name string) error { return write(name, "three") }, true, nil},
		"longer":  {func(name string) error { return write(name, "longer") }, false, nil},
		"later":   {func(name string) error { return os.Chtimes(name, at, at.Add(time.Microsecond)) }, false, nil},
		"another file": {func(name string) error {
			return errors.Join(write(name+".new", "three"), os.Rename(name+".new", name))
		}, false, nil},
		"gone": {os.Remove, false, fs.ErrNotExist},
	} {
		name := filepath.Join(t.TempDir(), "file")
		must.Do(t, write(name, "three"))
		info := must.Get(os.Stat(name))
		must.Do(t, c.change(name))
		if still, err := vfs.Still(vfs.Disk{}, name, info); still != c.still || !errors.Is(err, c.err) {
			t.Errorf("%s: still %v, %v; want %v, %v", what, still, err, c.still, c.err)
		}
	}
}
