package engine

import (
	"math/rand/v2"
	"testing"

	"sheaf/analysis"
)

// TestWorkerMemory: a goroutine that loads alone writes parts as large as
// WorkerMemory, however much more Memory allows; they hold everything.
func TestWorkerMemory(t *testing.T) {
	held := 0
	for _, c := range []struct {
		own   int64
		parts bool
	}{{0, false}, {1 << 18, true}} {
		a, err := analysis.New(analysis.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ix, err := Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields, WorkerMemory: c.own})
		if err != nil {
			t.Fatal(err)
		}
		ix.PauseMerges()
		commit(t, ix, nil, randomChunks(rand.New(rand.NewPCG(4, 9)), 0, 2000, 300))
		s, err := ix.Acquire()
		if err != nil {
			t.Fatal(err)
		}
		st := s.Stats()
		if held == 0 {
			held = st.Chunks
		}
		if st.Chunks != held || (st.Segments > 1) != c.parts {
			t.Errorf("WorkerMemory %d: %d of %d chunks in %d segments", c.own, st.Chunks, held, st.Segments)
		}
		if err := s.Release(); err != nil {
			t.Error(err)
		}
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	}
}
