package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

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

// TestRandomHistories compares the engine with the oracle over random changes of words and vectors,
// commits, merges and reopenings. SHEAF_TEST_LONG makes the histories long. A failure names its
// seed.
func TestRandomHistories(t *testing.T) {
	histories, steps := 6, 40
	switch {
	case os.Getenv("SHEAF_TEST_LONG") != "":
		histories, steps = 200, 200
	case testing.Short():
		histories, steps = 2, 25
	}
	first := rand.Uint64N(1 << 32)
	for n := range histories {
		for name, history := range map[string]func(*testing.T, uint64, int, store.Backend, store.Backend,
			func(store.Backend) store.Backend){
			"words": storetest.RandomHistory, "vectors": storetest.VectorHistory,
		} {
			seed := first + uint64(n)
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				s := stores()
				last := s.Empty(t)
				oracle := memory.New(analyzer(t))
				history(t, seed, steps, last, oracle, func(b store.Backend) store.Backend {
					last = s.Reopen(t, b)
					return last
				})
				if faults := last.(*embedded.Store).Check(t.Context(), nil); len(faults) > 0 {
					t.Error(faults)
				}
				if err := last.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
