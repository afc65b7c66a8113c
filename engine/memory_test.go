package engine

import (
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"testing"

	"sheaf/analysis"
)

// TestMemoryBounds: however much a load adds, what it keeps in memory stays within what
// it may take, roughly: slices and tables grow by more than they need.
func TestMemoryBounds(t *testing.T) {
	const memory = 8 << 20
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	a, err := analysis.New(analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ix, err := Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	rng := rand.New(rand.NewPCG(31, 32))
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	marked := func() int64 {
		metrics.Read(live)
		return int64(live[0].Value.Uint64())
	}
	load, err := ix.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer load.Close()
	runtime.GC()
	before, most, input := marked(), int64(0), 0
	for round := range rounds {
		chunks := randomChunks(rng, round*1000, 1000, 100_000)
		for i := range chunks {
			long := &chunks[i].Fields[round/(rounds/2)].Text // one segment's is not the next one's
			*long += text(rng, 100, 100_000)
			input += len(chunks[i].Fields[0].Text) + len(chunks[i].Fields[1].Text)
		}
		if err := load.Add(context.Background(), nil, chunks); err != nil {
			t.Fatal(err)
		}
		most = max(most, marked()-before)
	}
	if err := load.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	s, err := ix.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	t.Logf("%.1f MB of texts, %d segments, at most %.1f MB live", float64(input)/1e6, s.Stats().Segments, float64(most)/1e6)
	if most > 3*memory {
		t.Errorf("%d bytes live while %d bytes of texts are added, with %d allowed", most, input, memory)
	}
}
