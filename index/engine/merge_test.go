package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestMergeDuringCommits checks that full merges, background merges and commits can run together.
func TestMergeDuringCommits(t *testing.T) {
	ix := testIndex(t, t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var merging sync.WaitGroup
	for range 3 {
		merging.Go(func() {
			for ctx.Err() == nil {
				if err := ix.Merge(ctx); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
					return
				}
			}
		})
	}
	commits := 300
	if testing.Short() {
		commits = 100
	}
	rng := rand.New(rand.NewPCG(61, 2))
	for n := range commits {
		commit(t, ix, nil, randomChunks(rng, n, 1, 40))
	}
	stop()
	merging.Wait()
	s := must.Get(ix.Acquire())
	defer s.Release()
	n := s.Chunks()
	check.That(t, n == commits, "%d chunks are left of %d", n, commits)
}

// TestCanceledWaitForMerges checks that waiting for paused merges, when canceled, leaves no goroutine.
func TestCanceledWaitForMerges(t *testing.T) {
	ix := testIndex(t, t.TempDir())
	ix.PauseMerges()
	defer ix.ResumeMerges()
	rng := rand.New(rand.NewPCG(62, 2))
	for n := range tierFactor {
		commit(t, ix, nil, randomChunks(rng, n, 1, 40))
	}
	before := runtime.NumGoroutine()
	for range 20 {
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		check.Is(t, ix.Merge(ctx), context.DeadlineExceeded, "a merge that is no longer wanted")
		stop()
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+5; time.Sleep(time.Millisecond) {
		must.That(t, !time.Now().After(end), "%d goroutines, before 20 merges %d", runtime.NumGoroutine(), before)
	}
}

// TestCloseEndsMerges checks that Close ends a waiting merge, also of few segments.
func TestCloseEndsMerges(t *testing.T) {
	for _, segments := range []int{2, tierFactor} {
		ix := testIndex(t, t.TempDir())
		ix.PauseMerges()
		rng := rand.New(rand.NewPCG(63, 2))
		for n := range segments {
			commit(t, ix, nil, randomChunks(rng, n, 1, 40))
		}
		ended := make(chan error, 1)
		go func() { ended <- ix.Merge(context.Background()) }()
		time.Sleep(20 * time.Millisecond) // a merge that begins after Close is refused too
		must.Do(t, ix.Close())
		check.Is(t, <-ended, ErrClosed, "%d segments", segments)
	}
}

// TestMergeAfterClose checks that a merge that ends after Close publishes nothing.
func TestMergeAfterClose(t *testing.T) {
	dir := t.TempDir()
	ix := testIndex(t, dir)
	rng := rand.New(rand.NewPCG(64, 2))
	for n := range 2 {
		commit(t, ix, nil, randomChunks(rng, n, 1, 40))
	}
	_, err := ix.mergeOnce(t.Context(), &throttle{rate: DefaultMergeRate}, 2, func(views []*view) []*view {
		ix.loaded.Store(0) // Close has no time for merges of its own
		err := ix.Close()
		check.That(t, err == nil, "%v", err)
		return views
	})
	check.Is(t, err, ErrClosed, "a merge when the index is closed")
	again := testIndex(t, dir)
	s := must.Get(again.Acquire())
	defer s.Release()
	st := s.Stats()
	check.That(t, st.Chunks == 2 && st.Segments == 2, "%d chunks in %d segments, want 2 in 2", st.Chunks, st.Segments)
}

// TestMergeTakesTheLock checks that Merge refuses an index that another process writes to or that
// is open for reading.
func TestMergeTakesTheLock(t *testing.T) {
	dir := t.TempDir()
	writer := testIndex(t, dir)
	rng := rand.New(rand.NewPCG(65, 2))
	for n := range 3 {
		commit(t, writer, nil, randomChunks(rng, n, 1, 40))
	}
	other := testIndex(t, dir)
	load := must.Get(writer.Begin(t.Context()))
	check.Is(t, other.Merge(t.Context()), ErrLocked, "beside a writer")
	must.Do(t, errors.Join(load.Close(), writer.Close()))
	reader := must.Get(Open(Options{Dir: dir, Analyzer: writer.options.Analyzer, Fields: testFields}))
	defer reader.Close()
	check.NoError(t, other.Merge(t.Context()), "without a writer")
	s := must.Get(reader.Acquire())
	defer s.Release()
	st := s.Stats()
	check.That(t, st.Chunks == 3 && st.Segments == 1, "%d chunks in %d segments, want 3 in 1", st.Chunks, st.Segments)
}
