package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"

	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/offheap"
	"sheaf/text/analysis"
)

// TestMemoryBounds checks that a load stays within its memory limit, whatever goroutines add to it. Its use is the
// memory beside the heap plus twice the live heap, which the collector allows. The added chunks belong to the test
// and do not count.
func TestMemoryBounds(t *testing.T) {
	must.Whole(t, "it measures memory")
	type bounds struct {
		memory             int64
		goroutines, rounds int
	}
	cases := []bounds{{2 << 20, 1, 20}, {4 << 20, 3, 24}, {8 << 20, 2, 40}, {16 << 20, 1, 60}, {16 << 20, 4, 60}}
	a := must.Get(analysis.New(analysis.Options{}))
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d MiB for %d", c.memory>>20, c.goroutines), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.goroutines))
			taken := offheap.InUse()
			var beside atomic.Int64 // the largest value at any call of the file system
			var mapped atomic.Bool
			disk := &vfs.Faulty{FS: vfs.Disk{}, Fail: func(vfs.Op, string) error {
				if offheap.Beside() > 0 {
					mapped.Store(true)
				}
				now := offheap.InUse() - taken
				for most := beside.Load(); now > most && !beside.CompareAndSwap(most, now); most = beside.Load() {
				}
				return nil
			}}
			ix, err := Open(Options{FS: disk, Dir: t.TempDir(), Analyzer: a, Fields: testFields, Memory: c.memory,
				MergeRate: NoMerges})
			must.Do(t, err)
			defer ix.Close()
			load := must.Get(ix.Begin(context.Background()))
			defer load.Close()
			batches := make([][]Chunk, c.rounds)
			rng := rand.New(rand.NewPCG(31, 32))
			input := 0
			for round := range batches {
				batches[round] = randomChunks(rng, round*200, 200, 100_000)
				for i := range batches[round] {
					long := &batches[round][i].Fields[round/(c.rounds/2)].Text // segments differ
					*long += text(rng, 500, 100_000)
					input += len(batches[round][i].Fields[0].Text) + len(batches[round][i].Fields[1].Text)
				}
			}
			live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
			marked := func() int64 {
				runtime.GC() // objects allocated while the collector marks count as live, also garbage
				metrics.Read(live)
				onHeap := offheap.InUse() - offheap.Beside() // is counted with the memory beside the heap
				return max(0, int64(live[0].Value.Uint64())-onHeap)
			}
			before, heap := marked(), int64(0)
			var mu sync.RWMutex // goroutines that add lock it for reading, so marked counts no garbage of theirs
			var wait sync.WaitGroup
			var next atomic.Int32
			for range c.goroutines {
				wait.Go(func() {
					for {
						at := int(next.Add(1)) - 1
						if at%4 == 0 || at >= len(batches) {
							mu.Lock()
							heap = max(heap, marked()-before)
							mu.Unlock()
						}
						if at >= len(batches) {
							return
						}
						mu.RLock()
						err := load.Add(context.Background(), nil, batches[at])
						mu.RUnlock()
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wait.Wait()
			must.Do(t, load.Commit(context.Background()))
			s := must.Get(ix.Acquire())
			defer s.Release()
			t.Logf("%.1f MB of texts, %d segments, at most %.1f MB beside the heap and %.1f live on it", float64(input)/1e6,
				s.Stats().Segments, float64(beside.Load())/1e6, float64(heap)/1e6)
			must.That(t, int64(input) >= 2*c.memory, "%d bytes of texts are no more than the load may keep", input)
			// Lists and hash tables have spare capacity, and blocks of memory have unused ends. The
			// limit also covers memory that the code does not count.
			most, may := beside.Load(), counted(c.memory)
			check.That(t, most <= may+may/4+int64(c.goroutines)<<19 && most >= may/2 && (c.memory < 16<<20 || most <= c.memory),
				"%d bytes are taken beside the heap, with %d allowed", most, c.memory)
			// The heap holds list encoders, file buffers, and open segments. With the race detector
			// all memory is on the heap, and garbage between two collections counts too.
			check.That(t, !mapped.Load() || heap <= c.memory/4+4<<20+int64(s.Stats().Segments)<<14,
				"%d bytes live on the heap, with %d allowed", heap, c.memory)
			must.Do(t, load.Close())
			left := offheap.InUse() - taken
			check.That(t, left == 0, "%d bytes are not given back when a load is closed", left)
			err = load.Add(context.Background(), nil, batches[0])
			check.That(t, err != nil, "a load that is closed takes chunks")
		})
	}
}

// TestCountedMemory checks that the counted memory leaves some memory for the uncounted, from LeastMemory on.
func TestCountedMemory(t *testing.T) {
	for _, allowed := range []int64{1, 2, 1 << 20, LeastMemory - 1, LeastMemory, 64 << 20, DefaultMemory, 1 << 40} {
		n := counted(allowed)
		check.That(t, n >= 1 && n <= allowed && (allowed < LeastMemory || n == allowed-baseMemory),
			"of %d bytes %d may be counted", allowed, n)
		if m := mergeMemory(allowed); m < 0 || m+allowed/mergeShare != n {
			t.Errorf("of %d bytes merges may take %d beside a load that joins runs", allowed, m)
		}
	}
}

// TestJoinMemory checks that joining runs uses no more memory with many processors than with few.
func TestJoinMemory(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("4,000,000 words")
	}
	const memory = 6 << 20
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	a := must.Get(analysis.New(analysis.Options{}))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var joining atomic.Bool
	var most, looks int64
	disk := &vfs.Faulty{FS: vfs.Disk{}, Fail: func(op vfs.Op, _ string) error {
		if joining.Load() && op == vfs.OpWrite { // only one goroutine writes
			looks++
			most = max(most, heap())
		}
		return nil
	}}
	_, load := testLoad(t, Options{FS: disk, Dir: t.TempDir(), Analyzer: a, Fields: testFields, Memory: memory,
		MergeRate: NoMerges})
	rng := rand.New(rand.NewPCG(33, 34))
	for round := range 40 {
		chunks := randomChunks(rng, round*100, 100, 20_000)
		for i := range chunks {
			chunks[i].Fields[0].Text += text(rng, 1000, 20_000)
		}
		must.Do(t, load.Add(t.Context(), nil, chunks))
	}
	runs := 0
	for _, f := range load.flushed {
		if f.reader.Run() {
			runs++
		}
	}
	before := heap()
	joining.Store(true)
	must.Do(t, load.Commit(t.Context()))
	joining.Store(false)
	t.Logf("%d runs; at most %.1f MB on the heap, looked at %d times", runs, float64(most-before)/1e6, looks)
	check.That(t, runs >= 2 && looks >= 20 && most-before <= memory,
		"joining %d runs took %d bytes of the heap, with %d allowed (looked at %d times)", runs, most-before, memory, looks)
}
