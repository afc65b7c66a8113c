package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

// testLoad opens an index and begins a load. Both end with the test.
func testLoad(t *testing.T, o Options) (*Index, *Load) {
	t.Helper()
	ix := must.Get(Open(o))
	t.Cleanup(func() { _ = ix.Close() })
	load := must.Get(ix.Begin(t.Context()))
	t.Cleanup(func() { _ = load.Close() })
	return ix, load
}

// TestGatherMemory checks that a load which gathers more than GatherMemory writes runs, even if
// Memory allows more. A commit makes one segment of all runs.
func TestGatherMemory(t *testing.T) {
	held := 0
	for _, c := range []struct {
		gather int64
		runs   bool
	}{{0, false}, {1 << 18, true}} {
		a := must.Get(analysis.New(analysis.Options{}))
		ix := must.Get(Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields, GatherMemory: c.gather}))
		ix.PauseMerges()
		load := must.Get(ix.Begin(t.Context()))
		must.Do(t, load.Add(t.Context(), nil, randomChunks(rand.New(rand.NewPCG(4, 9)), 0, 2000, 300)))
		check.Equal(t, len(load.flushed) > 1, c.runs, "GatherMemory %d: several runs", c.gather)
		must.Do(t, errors.Join(load.Commit(t.Context()), load.Close()))
		s := must.Get(ix.Acquire())
		st := s.Stats()
		if held == 0 {
			held = st.Chunks
		}
		if faults := s.Check(t.Context(), nil); st.Chunks != held || st.Segments > 1 || len(faults) > 0 {
			t.Errorf("GatherMemory %d: %d of %d chunks in %d segments, %v", c.gather, st.Chunks, held, st.Segments, faults)
		}
		must.Do(t, s.Release())
		must.Do(t, ix.Close())
	}
}

// TestGatherMemoryOfNewWords adds ever new words. It checks that a worker keeps less than
// GatherMemory of them between runs; otherwise each chunk would cause a run.
func TestGatherMemoryOfNewWords(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	a := must.Get(analysis.New(analysis.Options{}))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ix, err := Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields, Memory: 32 << 20, GatherMemory: 1 << 20,
		MergeRate: NoMerges})
	must.Do(t, err)
	defer ix.Close()
	const all, words = 300, 200
	var chunks []Chunk
	for i := range all {
		var b strings.Builder
		for k := range words {
			fmt.Fprintf(&b, "word%d ", i*words+k)
		}
		id := fmt.Sprint(i)
		chunks = append(chunks, Chunk{ID: id, Doc: id, Fields: []FieldText{{"body", b.String()}}})
	}
	load := must.Get(ix.Begin(t.Context()))
	defer load.Close()
	must.Do(t, load.Add(t.Context(), nil, chunks))
	runs := len(load.flushed)
	check.That(t, runs >= 2 && runs <= all/10, "%d runs of %d chunks, want several, of more than 10", runs, all)
}

// TestConcurrentLoadsShareRuns checks that several goroutines which load together make about as few runs as
// one goroutine. Each run has the chunks of all goroutines, and the runs become one segment.
func TestConcurrentLoadsShareRuns(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	alone, cases := 0, []int{1, 4}
	if testing.Short() {
		cases = cases[1:]
	}
	for _, goroutines := range cases {
		before := runtime.GOMAXPROCS(goroutines)
		defer runtime.GOMAXPROCS(before)
		ix, load := testLoad(t, Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields, Memory: 4 << 20,
			MergeRate: NoMerges})
		const batches, size = 60, 100
		var next atomic.Int64
		var adding errgroup.Group
		for range goroutines {
			adding.Go(func() error {
				for {
					n := int(next.Add(1)) - 1
					if n >= batches {
						return nil
					}
					batch := make([]Chunk, size)
					rng := rand.New(rand.NewPCG(uint64(n), 8))
					for i := range batch {
						id := fmt.Sprint(n*size + i)
						batch[i] = Chunk{ID: id, Doc: id, Fields: []FieldText{{"body", text(rng, 300, 2000)}}}
					}
					if err := load.Add(t.Context(), nil, batch); err != nil {
						return err
					}
				}
			})
		}
		must.Do(t, adding.Wait())
		runs := len(load.flushed)
		must.Do(t, load.Commit(t.Context()))
		s := must.Get(ix.Acquire())
		defer s.Release()
		st := s.Stats()
		t.Logf("%d goroutines: %d runs", goroutines, runs)
		check.That(t, st.Chunks == batches*size && st.Segments == 1, "%d goroutines: %d of %d chunks in %d segments",
			goroutines, st.Chunks, batches*size, st.Segments)
		faults := s.Check(t.Context(), nil)
		check.That(t, len(faults) == 0, "%d goroutines: %v", goroutines, faults)
		if alone == 0 {
			alone = runs
		}
		check.That(t, runs >= 2 && runs <= alone+alone/2, "%d goroutines made %d runs, one %d", goroutines, runs, alone)
	}
}

// TestCommitAfterClose checks that a closed load publishes nothing. Otherwise the index would name
// files that Close removed.
func TestCommitAfterClose(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	o := Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields, GatherMemory: 1 << 18}
	ix := must.Get(Open(o))
	commit(t, ix, nil, []Chunk{{ID: "kept", Doc: "kept"}})
	load, err := ix.Begin(t.Context())
	must.Do(t, err)
	must.Do(t, load.Add(t.Context(), nil, randomChunks(rand.New(rand.NewPCG(4, 9)), 0, 2000, 300)))
	must.That(t, len(load.flushed) != 0, "nothing was written before the load was closed")
	must.Do(t, load.Close())
	check.Is(t, load.Commit(t.Context()), ErrClosed, "a commit after Close")
	must.Do(t, errors.Join(load.Close(), ix.Close()))
	if ix, err = Open(o); err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	s := must.Get(ix.Acquire())
	defer s.Release()
	check.That(t, s.Chunks() == 1, "%d chunks, want the one that was committed", s.Chunks())
}

// TestConcurrentAddsOfSameChunks checks that goroutines which add the same chunks all finish. The index has the last
// version of each chunk once.
func TestConcurrentAddsOfSameChunks(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	ix := must.Get(Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields}))
	defer ix.Close()
	ctx := t.Context()
	load := must.Get(ix.Begin(ctx))
	defer load.Close()
	var adding errgroup.Group
	for g := range 8 {
		adding.Go(func() error {
			rng := rand.New(rand.NewPCG(uint64(g), 3))
			for range 3000 {
				doc := fmt.Sprint(rng.IntN(6))
				chunks := []Chunk{{ID: doc, Doc: doc, Fields: []FieldText{{"body", "words of " + doc}}}, {ID: doc + "#1", Doc: doc}}
				if err := load.Add(ctx, []string{doc}, chunks); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must.Do(t, adding.Wait())
	must.Do(t, load.Commit(ctx))
	s := must.Get(ix.Acquire())
	defer s.Release()
	faults := s.Check(ctx, nil)
	check.That(t, s.Chunks() == 12 && len(faults) == 0, "%d chunks, want 12; faults %v", s.Chunks(), faults)
}

// TestInvisibleWords checks that words of invisible characters are indexed like others, also in
// languages that split words at apostrophes.
func TestInvisibleWords(t *testing.T) {
	for _, language := range []string{"fr", "it", "en"} {
		a := must.Get(analysis.New(analysis.Options{Language: language}))
		ix := must.Get(Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: []string{"body"}}))
		for i, text := range []string{"x-\u200d'\u200d", "Z-\u00ad'\u00ad", "É-\u0301'\u0301",
			"hello Z-\u0300\u2019\u0300 world"} {
			id := fmt.Sprint(i)
			commit(t, ix, nil, []Chunk{{ID: id, Doc: id, Fields: []FieldText{{"body", text}}}})
		}
		s := must.Get(ix.Acquire())
		n := s.Chunks()
		check.That(t, n == 4, "%s: %d chunks of 4", language, n)
		must.Do(t, errors.Join(s.Release(), ix.Close()))
	}
}
