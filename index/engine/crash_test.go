package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

// history makes random commits and stores the expected result: the version of each document.
type history struct {
	t    *testing.T
	rng  *rand.Rand
	ix   *Index
	want map[string]string
}

func openOn(t *testing.T, fs vfs.FS) (*Index, error) {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{}))
	// This memory is so small that many commits have several runs.
	return Open(Options{FS: fs, Dir: "index", Analyzer: a, Fields: testFields, Memory: 1 << 20, GatherMemory: 51 << 9,
		Rest: time.Microsecond})
}

// step makes a random commit and returns the expected state after it.
func (h *history) step(n int) (after map[string]string, err error) {
	after = maps.Clone(h.want)
	load, err := h.ix.Begin(context.Background())
	if err != nil {
		return after, err
	}
	for range 1 + h.rng.IntN(3) {
		doc := fmt.Sprintf("d%d", h.rng.IntN(12))
		var chunks []Chunk
		delete(after, doc)
		if h.rng.IntN(4) > 0 {
			version := fmt.Sprintf("v%dx%d", n, h.rng.IntN(1000))
			after[doc] = version
			for i := range 2 {
				chunks = append(chunks, Chunk{ID: fmt.Sprintf("%s#%d", doc, i), Doc: doc,
					Fields: []FieldText{{"body", marker(doc, version)}}})
			}
		}
		if err = load.Add(context.Background(), []string{doc}, chunks); err != nil {
			break
		}
	}
	if err == nil {
		err = load.Commit(context.Background())
	}
	return after, errors.Join(err, load.Close())
}

// marker returns the only word of a version of a document. It has only letters, so no analyzer splits it.
func marker(doc, version string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return 'a' + r - '0'
		}
		return r
	}, doc+"z"+version)
}

// holds reports whether a snapshot has exactly the documents of want.
func (h *history) holds(s *Snapshot, want map[string]string) (bool, error) {
	if s.Chunks() != 2*len(want) {
		return false, nil
	}
	for doc, version := range want {
		n, err := s.Count(context.Background(),
			Request{Words: &Words{Query: sheaf.Match{Text: marker(doc, version)}, Fields: []FieldWeight{{"body", 1}}}})
		if err != nil || n != 2 {
			return false, err
		}
	}
	return true, nil
}

// check compares the index with the states before and after a commit.
func (h *history) check(where string, before, after map[string]string) {
	h.t.Helper()
	s, err := h.ix.Acquire()
	if err != nil {
		h.t.Fatalf("%s: %v", where, err)
	}
	defer s.Release()
	if faults := s.Check(context.Background(), nil); len(faults) > 0 {
		h.t.Fatalf("%s: %v", where, faults)
	}
	for _, want := range []map[string]string{after, before} {
		ok, err := h.holds(s, want)
		if err != nil {
			h.t.Fatalf("%s: %v", where, err)
		}
		if ok {
			h.want = want
			return
		}
	}
	h.t.Fatalf("%s: the index has %d chunks and is neither %v nor %v", where, s.Chunks(), before, after)
}

func rounds(t *testing.T, usual int) int {
	switch {
	case os.Getenv("SHEAF_TEST_LONG") != "":
		return 10_000
	case testing.Short():
		return usual / 4
	}
	return usual
}

// TestCrash cuts the power at random calls of the file system. It checks that the index opens with
// the complete state before or after the interrupted commit. A failure names its seed.
func TestCrash(t *testing.T) {
	first := rand.Uint64N(1 << 32)
	for n := range rounds(t, 200) {
		seed := first + uint64(n)
		where := fmt.Sprintf("seed %d", seed)
		h := &history{t: t, rng: rand.New(rand.NewPCG(seed, 1)), want: map[string]string{}}
		mem := vfs.NewMem()
		for crash := range 4 {
			var left atomic.Int64
			left.Store(int64(h.rng.IntN(60 * (crash + 1))))
			fs := &vfs.Faulty{FS: mem, Fail: func(vfs.Op, string) error {
				if left.Add(-1) < 0 {
					return errors.New("power lost")
				}
				return nil
			}}
			before, after := h.want, h.want
			var err error
			if h.ix, err = openOn(t, fs); err == nil {
				for i := range 12 {
					before = h.want
					if after, err = h.step(i); err != nil {
						break
					}
					h.want, before = after, after
				}
				_ = h.ix.Close() // the power is off
			}
			mem = mem.Crash(seed + uint64(crash))
			h.ix, err = openOn(t, mem)
			must.That(t, err == nil, "%s, crash %d: %v", where, crash, err)
			h.check(fmt.Sprintf("%s, crash %d", where, crash), before, after)
			must.Do(t, h.ix.Close())
		}
	}
}

// TestFaults lets single calls of the file system fail. It checks that a failed commit changes
// nothing or everything, and that later commits succeed.
func TestFaults(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	first := rand.Uint64N(1 << 32)
	for n := range rounds(t, 120) {
		seed := first + uint64(n)
		h := &history{t: t, rng: rand.New(rand.NewPCG(seed, 2)), want: map[string]string{}}
		var left atomic.Int64
		left.Store(1 << 40)
		fs := &vfs.Faulty{FS: vfs.NewMem(), Fail: func(vfs.Op, string) error {
			if left.Add(-1) == 0 {
				return syscall.ENOSPC
			}
			return nil
		}}
		var err error
		if h.ix, err = openOn(t, fs); err != nil {
			t.Fatal(err)
		}
		for i := range 25 {
			left.Store(int64(1 + h.rng.IntN(50)))
			before := h.want
			after, err := h.step(i)
			left.Store(1 << 40)
			where := fmt.Sprintf("seed %d, step %d (%v)", seed, i, err)
			if err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(where)
			}
			if err == nil {
				before = after
			}
			h.check(where, before, after)
		}
		if after, err := h.step(99); err != nil {
			t.Fatalf("seed %d: after the faults: %v", seed, err)
		} else {
			h.check("after the faults", after, after)
		}
		names := must.Get(fs.List("index"))
		must.Do(t, h.ix.Close())
		check.That(t, !slices.Contains(names, "MANIFEST.tmp") || len(names) <= 60, "seed %d: files pile up: %v", seed, names)
	}
}
