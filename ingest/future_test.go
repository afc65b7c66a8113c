package ingest

import (
	"os"
	"path/filepath"
	"testing"
	"time"
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
		o := emptyIndex(t, root)
		run := func() (*Report, uint64) {
			var err error
			o.Walked, err = NewWalk(t.Context(), root, WalkOptions{})
			must(t, err)
			o.Walked.files[0].state = time.Now().Add(365 * 24 * time.Hour).UnixNano()
			r, err := Run(t.Context(), o)
			must(t, err)
			view := o.Catalog.View()
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
	}
}
