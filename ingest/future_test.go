package ingest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// TestFutureChange checks a file that changed while the clock was ahead. While it stays the same,
// no run commits anything, with or without other files and whatever its time.
func TestFutureChange(t *testing.T) {
	for _, c := range []struct {
		others bool
		age    time.Duration
	}{{false, time.Hour}, {true, time.Hour}, {true, -time.Hour}} {
		root := t.TempDir()
		names := []string{"a.md"}
		if c.others {
			names = append(names, "b.md")
		}
		old := time.Now().Add(-c.age)
		for _, name := range names {
			name = filepath.Join(root, name)
			must(t, os.WriteFile(name, []byte("# A\n\nalpha\n"), 0o600))
			must(t, os.Chtimes(name, old, old))
		}
		a, err := analysis.New(analysis.Options{})
		must(t, err)
		c, err := catalog.Open(vfs.Disk{}, t.TempDir(), catalog.Options{})
		must(t, err)
		b := memory.New(a)
		ctx := context.Background()
		run := func() (*Report, uint64) {
			found, err := NewWalk(ctx, root, WalkOptions{})
			must(t, err)
			found.files[0].state = time.Now().Add(365 * 24 * time.Hour).UnixNano()
			r, err := Run(ctx, Options{Catalog: c, Backend: b, Trees: []catalog.Tree{{Name: "t", Root: root}},
				Walked: found})
			if err != nil {
				t.Fatal(err)
			}
			view := c.View()
			defer view.Close()
			return r, view.Generation()
		}
		_, first := run()
		if r, second := run(); r.Unchanged != len(names) || second != first {
			t.Errorf("%q: %+v, generation %d and then %d", names, r, first, second)
		}
		// A run still finds a changed text.
		name := filepath.Join(root, "a.md")
		must(t, os.WriteFile(name, []byte("# A\n\nomega\n"), 0o600))
		must(t, os.Chtimes(name, old, old))
		if r, _ := run(); r.Changed != 1 {
			t.Errorf("%q: another text: %+v", names, r)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
