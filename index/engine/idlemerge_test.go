package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

// TestIdleMergeChoosesSegments checks which segments an idle index joins: those of which none is much larger than all
// smaller ones together. The joined segment has all their chunks.
func TestIdleMergeChoosesSegments(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks []int // of each segment
		memory int64
		left   int
	}{
		{"one", []int{300}, 0, 1},
		{"two alike", []int{300, 300}, 0, 1},
		{"small ones beside a large one", []int{10, 10, 2000}, 0, 2},
		{"large ones with a small one between", []int{900, 10, 900}, 0, 1},
		{"enough small ones", []int{300, 300, 900}, 0, 1},
		{"more than memory allows", []int{300, 300}, 4000, 2},
	} {
		ix := testIndex(t, t.TempDir())
		rng := rand.New(rand.NewPCG(71, 1))
		for n, chunks := range c.chunks {
			commit(t, ix, nil, randomChunks(rng, n*1000, chunks, 300))
		}
		if c.memory > 0 {
			ix.options.Memory = c.memory
		}
		chunks, segments := left(t, ix)
		must.That(t, segments == len(c.chunks), "%s: %d segments before, want %d", c.name, segments, len(c.chunks))
		restNow(t, ix)
		if after, segments := left(t, ix); after != chunks || segments != c.left {
			t.Errorf("%s: %d chunks in %d segments, want %d in %d", c.name, after, segments, chunks, c.left)
		}
	}
}

// restNow runs the joining of an idle index.
func restNow(t *testing.T, ix *Index) {
	t.Helper()
	ix.waitForMerges(t.Context()) // joining waits for merges of a load
	ix.idleMerge()
	ix.waitForMerges(t.Context())
}

// left returns the number of chunks and segments of an index, and checks that they have no faults.
func left(t *testing.T, ix *Index) (chunks, segments int) {
	t.Helper()
	s := must.Get(ix.Acquire())
	if faults := s.Check(context.Background(), nil); len(faults) > 0 {
		t.Error(faults)
	}
	st := s.Stats()
	must.Do(t, s.Release())
	return st.Chunks, st.Segments
}

// TestIdleMergeBegins checks that joining starts some time after opening, a load, or a change of another process.
func TestIdleMergeBegins(t *testing.T) {
	dir := t.TempDir()
	other := testIndex(t, dir)
	rng := rand.New(rand.NewPCG(73, 1))
	for n := range 2 {
		commit(t, other, nil, randomChunks(rng, n*1000, 100, 300))
	}
	ix, err := Open(Options{Dir: dir, Analyzer: other.options.Analyzer, Fields: testFields, Rest: time.Microsecond})
	must.Do(t, err)
	joined := func(after string) {
		t.Helper()
		for {
			if _, segments := left(t, ix); segments == 1 {
				ix.waitForMerges(t.Context()) // it holds the lock until its end
				return
			}
			must.That(t, t.Context().Err() == nil, "after %s nothing was joined", after)
		}
	}
	joined("opening")
	commit(t, ix, nil, randomChunks(rng, 2000, 100, 300))
	joined("a load")
	commit(t, other, nil, randomChunks(rng, 3000, 200, 300))
	joined("a load of another process")
	load := must.Get(other.Begin(t.Context()))
	commitsBeside := errors.Join(load.Add(t.Context(), nil, randomChunks(rng, 4000, 200, 300)), load.Commit(t.Context()))
	_, segments := left(t, ix)
	check.That(t, segments == 2, "while another process has the lock: %d segments, want 2", segments)
	must.Do(t, errors.Join(commitsBeside, load.Close()))
	joined("another process had the lock")
	must.Do(t, ix.Close())
}

// TestIdleMergeAfterLoads checks that joining starts only when no load is active.
func TestIdleMergeAfterLoads(t *testing.T) {
	ix := testIndex(t, t.TempDir())
	rng := rand.New(rand.NewPCG(72, 1))
	for n := range 2 {
		commit(t, ix, nil, randomChunks(rng, n*1000, 50, 300))
	}
	segments := func() int {
		t.Helper()
		restNow(t, ix)
		_, n := left(t, ix)
		return n
	}
	load := must.Get(ix.Begin(t.Context()))
	n := segments()
	check.That(t, n == 2, "beside a load: %d segments, want 2", n)
	must.Do(t, load.Close())
	n = segments()
	check.That(t, n == 1, "after it: %d segments, want 1", n)
}

// TestIdleMergePaused checks that an idle index does nothing while merges are paused, and leaves loads their memory.
func TestIdleMergePaused(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	ix, err := Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields, Rest: time.Hour, MergeRate: NoMerges})
	must.Do(t, err)
	rng := rand.New(rand.NewPCG(75, 1))
	for n := range 2 {
		commit(t, ix, nil, randomChunks(rng, n*1000, 20, 30))
	}
	ix.waitForMerges(t.Context())
	for range 2 {
		ix.stopIdleTimer() // as if the timer fired
		ix.idleMerge()
		check.That(t, !ix.merge.running.Load() && !ix.merge.rest.Stop(),
			"merges are paused, and one has begun or is about to")
	}
	ix.ResumeMerges()
	check.That(t, ix.merge.rest.Stop(), "nothing rests once merges go on")
	restNow(t, ix)
	_, segments := left(t, ix)
	check.That(t, segments == 1, "once merges go on: %d segments, want 1", segments)
	if err := ix.Close(); err != nil {
		t.Error(err)
	}
}

// TestIdleMergeAfterFault checks an index that could not publish a joined segment. When it can publish
// again, it lets other processes write, without a load.
func TestIdleMergeAfterFault(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	mem, full := vfs.NewMem(), false
	ix, err := Open(Options{Dir: "index", Analyzer: a, Fields: testFields, Rest: time.Hour,
		FS: &vfs.Faulty{FS: mem, Fail: func(op vfs.Op, _ string) error {
			if full && op == vfs.OpRename {
				return syscall.ENOSPC
			}
			return nil
		}}})
	must.Do(t, err)
	rng := rand.New(rand.NewPCG(74, 1))
	for n := range 2 {
		commit(t, ix, nil, randomChunks(rng, n*1000, 20, 30))
	}
	ix.stopIdleTimer() // as if the timer fired
	full = true
	restNow(t, ix)
	other := must.Get(Open(Options{Dir: "index", Analyzer: a, Fields: testFields, FS: mem}))
	begin := func() error {
		load, err := other.Begin(t.Context())
		if err == nil {
			err = load.Close()
		}
		return err
	}
	for range 2 {
		err := begin()
		must.That(t, errors.Is(err, ErrLocked), "after a publication that failed another process writes: %v", err)
		must.That(t, ix.merge.rest.Stop(), "nothing is tried again after a publication that failed")
		restNow(t, ix)
	}
	full = false
	restNow(t, ix)
	check.NoError(t, begin(), "once there is space")
	if err := errors.Join(other.Close(), ix.Close()); err != nil {
		t.Error(err)
	}
}

// TestThrottle checks that a merge keeps to its rate. If it yields to searches and there are some,
// it rests eight times as long as it works.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var searches atomic.Int32
		slow := throttle{rate: 1 << 20, searches: &searches, pause: func(context.Context) error { return nil }}
		step := func(works time.Duration, searching int32, written int64, want time.Duration) {
			t.Helper()
			time.Sleep(works)
			searches.Store(searching)
			began := time.Now()
			must.Do(t, slow.wait(t.Context(), written))
			check.Equal(t, time.Since(began), want, "%d bytes after work of %v beside %d searches: a rest of", written, works,
				searching)
		}
		const ms = time.Millisecond
		step(0, 0, 0, 0)
		step(100*ms, 0, 1<<18, 150*ms) // 250 ms for a quarter of the bytes of one second
		step(10*ms, 1, 1<<18, 80*ms)   // 340 ms
		step(100*time.Microsecond, 1, 1<<18, 0)
		step(100*time.Microsecond, 1, 1<<18, 1600*time.Microsecond) // for both steps
		step(10*ms, 0, 1<<18, 0)                                    // 351.8 ms
		step(148*ms+200*time.Microsecond, 0, 1<<20, 500*ms)
	})
}
