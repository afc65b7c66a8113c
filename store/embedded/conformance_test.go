package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"sheaf/index/engine/bm25"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/memory"
	"sheaf/store/storetest"
)

var testVectors = []store.VectorField{{Name: "body", Model: "test", Dims: 8}, {Name: "title", Model: "test", Dims: 8}}

// stores opens stores for one test.
func stores() *storetest.Stores[embedded.Options] {
	return &storetest.Stores[embedded.Options]{New: func(t testing.TB) embedded.Options {
		return embedded.Options{Dir: t.TempDir(), Analyzer: analyzer(t), Vectors: testVectors, Rest: time.Microsecond}
	}, With: func(_ context.Context, o embedded.Options) (store.Backend, error) { return embedded.Open(o) }}
}

func TestConformance(t *testing.T) {
	s := stores()
	storetest.Run(t, storetest.Options{Open: s.Empty, Reopen: s.Reopen})
}

// TestRandomHistories compares the engine with the oracle over random changes, commits, merges and
// reopenings. The engine may count lengths like Lucene, or chunks like Weaviate; then the oracle does
// the same. SHEAF_TEST_LONG makes the histories long. A failure names its seed.
func TestRandomHistories(t *testing.T) {
	histories, steps := 9, 30
	switch {
	case os.Getenv("SHEAF_TEST_LONG") != "":
		histories, steps = 300, 200
	case testing.Short():
		histories, steps = 3, 20
	}
	first := rand.Uint64N(1 << 32)
	for n := range histories {
		seed := first + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s, oracle := stores(), memory.New(analyzer(t))
			o := s.New(t)
			switch n % 3 {
			case 1:
				o.Lengths = bm25.LengthsLucene
				oracle.KeepLengths(func(n int) int { return int(bm25.LengthsLucene.Of(uint32(n))) })
			case 2:
				o.AllChunks = true
				oracle.CountAllChunks()
			}
			last := s.Open(t, o)
			storetest.RandomHistory(t, seed, steps, last, oracle, func(b store.Backend) store.Backend {
				last = s.Reopen(t, b)
				return last
			})
			faults := last.(*embedded.Store).Check(t.Context(), nil)
			check.That(t, len(faults) <= 0, "%v", faults)
			must.Do(t, last.Close())
		})
	}
}
