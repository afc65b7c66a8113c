package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

// TestLongLoadEndsWithFewSegments checks that a program which loads for long ends with few segments that hold
// everything. A program that took no time leaves its segments as they are.
func TestLongLoadEndsWithFewSegments(t *testing.T) {
	for _, took := range []time.Duration{0, time.Minute} {
		dir := t.TempDir()
		ix := testIndex(t, dir)
		ix.PauseMerges()
		rng := rand.New(rand.NewPCG(21, 22))
		for n := range 6 {
			commit(t, ix, nil, randomChunks(rng, n*100, 50, 300))
		}
		ix.ResumeMerges()
		before := must.Get(ix.Acquire())
		chunks, segments := before.Chunks(), before.Stats().Segments
		must.Do(t, before.Release())
		ix.loaded.Store(int64(took))
		must.Do(t, ix.Close())
		again := testIndex(t, dir)
		s := must.Get(again.Acquire())
		st := s.Stats()
		check.That(t, st.Chunks == chunks && (took <= 0 || st.Segments < segments) && (took != 0 || st.Segments == segments),
			"loads of %v: %d chunks in %d segments, before %d in %d", took, st.Chunks, st.Segments, chunks, segments)
		faults := s.Check(context.Background(), nil)
		check.That(t, len(faults) == 0, "%v", faults)
		must.Do(t, s.Release())
	}
}

// TestMergeRate checks that a background merge keeps to its rate, and that Close ends it.
func TestMergeRate(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	ix := must.Get(Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields, MergeRate: 1000}))
	rng := rand.New(rand.NewPCG(23, 24))
	for n := range tierFactor {
		commit(t, ix, nil, randomChunks(rng, n*1000, 200, 20_000))
	}
	s := must.Get(ix.Acquire())
	n := s.Stats().Segments
	check.That(t, n >= tierFactor, "%d segments are left: the merge took no time", n)
	must.Do(t, s.Release())
	ix.loaded.Store(0)
	if err := ix.Close(); err != nil { // Close does not wait for the merge
		t.Fatal(err)
	}
}

// TestMergeIsCancelled checks that a caller can stop waiting for background merges that are slow or
// paused.
func TestMergeIsCancelled(t *testing.T) {
	ix := testIndex(t, t.TempDir())
	ix.PauseMerges()
	rng := rand.New(rand.NewPCG(25, 26))
	for n := range tierFactor {
		commit(t, ix, nil, randomChunks(rng, n*100, 50, 300))
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	check.Is(t, ix.Merge(ctx), context.DeadlineExceeded, "a merge that is no longer wanted")
	ix.ResumeMerges()
	must.Do(t, ix.Merge(t.Context()))
	s := must.Get(ix.Acquire())
	defer s.Release()
	check.Equal(t, s.Stats().Segments, 1, "segments after one merge")
}

// TestMergesWithinMemory checks that no background merge of several segments begins if it needs
// more than its share of the memory.
func TestMergesWithinMemory(t *testing.T) {
	ix := testIndex(t, t.TempDir())
	ix.PauseMerges()
	rng := rand.New(rand.NewPCG(51, 2))
	for n := range tierFactor {
		commit(t, ix, nil, randomChunks(rng, n*20, 20, 40))
	}
	s := must.Get(ix.Acquire())
	need := int64(0)
	for _, v := range s.views {
		need += v.reader.MergeBytes()
	}
	for _, c := range []struct {
		memory int64
		merged int
	}{{need * 4, tierFactor}, {need*4 - 4, 0}} { // a quarter is not counted, half belongs to a load
		// The index itself looks for merges in the background, so only a copy can get another limit.
		other := &Index{options: Options{Memory: c.memory}}
		check.Equal(t, len(other.tiers(s.views)), c.merged,
			"merged with %d bytes of memory of %d segments, which need %d", c.memory, len(s.views), need)
	}
	ix.ResumeMerges()
	must.Do(t, errors.Join(s.Release(), ix.Close()))
}
