package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestProcessesWriteInTurns checks that processes which have the same index open can write in turns, also in
// background merges. Each locks the index only while it writes, and continues from the last state.
func TestProcessesWriteInTurns(t *testing.T) {
	dir := t.TempDir()
	a, b := testIndex(t, dir), testIndex(t, dir)
	rng := rand.New(rand.NewPCG(65, 3))
	chunks := 0
	for n := range 3 * tierFactor {
		ix, other := a, b
		if n%2 == 1 {
			ix, other = b, a
		}
		load, err := ix.Begin(t.Context())
		must.That(t, err == nil, "load %d: %v", n, err)
		_, err = other.Begin(t.Context())
		must.That(t, errors.Is(err, ErrLocked), "beside a load: %v, want ErrLocked", err)
		must.Do(t, errors.Join(load.Add(t.Context(), nil, randomChunks(rng, n, 1, 40)), load.Commit(t.Context()),
			load.Close()))
		must.That(t, ix.waitForMerges(t.Context()), "%v", t.Context().Err())
		chunks++
		for _, ix := range []*Index{a, b} {
			s := must.Get(ix.Acquire())
			if st := s.Stats(); st.Chunks != chunks || st.Segments > 2*tierFactor {
				t.Fatalf("after load %d: %d chunks in %d segments, want %d", n, st.Chunks, st.Segments, chunks)
			}
			must.Do(t, s.Release())
		}
	}
	must.Do(t, b.Merge(t.Context()))
	must.Do(t, a.Merge(t.Context()))
}

// TestEmpty checks that Empty refuses an index during a load, whose commit would name removed
// files. Another open index continues as an empty one.
func TestEmpty(t *testing.T) {
	dir := t.TempDir()
	check.NoError(t, Empty(filepath.Join(dir, "none")), "no folder")
	ix := testIndex(t, dir)
	rng := rand.New(rand.NewPCG(65, 4))
	commit(t, ix, nil, randomChunks(rng, 0, 3, 40))
	load := must.Get(ix.Begin(t.Context()))
	check.Is(t, Empty(dir), ErrLocked, "under a load")
	must.Do(t, errors.Join(load.Add(t.Context(), nil, randomChunks(rng, 3, 1, 40)), load.Commit(t.Context()),
		load.Close()))
	if err := Empty(dir); err != nil {
		t.Skipf("this platform keeps files that are open: %v", err)
	}
	commit(t, ix, nil, randomChunks(rng, 4, 2, 40))
	for _, ix := range []*Index{ix, testIndex(t, dir)} {
		s := must.Get(ix.Acquire())
		st, faults := s.Stats(), s.Check(t.Context(), nil)
		check.That(t, st.Chunks == 2 && len(faults) == 0, "%d chunks, want 2, %v", st.Chunks, faults)
		must.Do(t, s.Release())
	}
}

// TestOpenedWhileEmptied checks that opening an index while it is emptied finds a complete index or
// none. An index whose files are gone would look damaged.
func TestOpenedWhileEmptied(t *testing.T) {
	dir := t.TempDir()
	ix := testIndex(t, dir)
	commit(t, ix, nil, randomChunks(rand.New(rand.NewPCG(65, 5)), 0, 3, 40))
	for i := range 500 { // removing these takes a while
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("2%06d", i)), nil, 0o600))
	}
	emptied := make(chan error, 1)
	go func() { emptied <- Empty(dir) }()
	for {
		one, err := Open(Options{Dir: dir, Analyzer: ix.options.Analyzer, Fields: testFields})
		if err == nil {
			err = one.Close()
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		must.Do(t, err)
		select {
		case err := <-emptied:
			if err != nil {
				t.Skipf("this platform keeps files that are open: %v", err)
			}
			return
		default:
		}
	}
}
