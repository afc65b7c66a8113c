package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/store/postgres"
	"sheaf/store/storetest"
)

// server returns the URL of a PostgreSQL server for tests. Without a server the test is skipped.
// scripts/servers/postgres.sh starts a server.
func server(t testing.TB) string {
	url := os.Getenv("SHEAF_TEST_POSTGRES")
	if url == "" {
		t.Skip("no PostgreSQL: SHEAF_TEST_POSTGRES is not set; see scripts/servers/postgres.sh")
	}
	return url
}

var schemas atomic.Int64

// options returns the options of a new, empty store, and removes the store at the end of the test.
func options(t testing.TB) postgres.Options {
	o := postgres.Options{URL: server(t), Schema: fmt.Sprintf("sheaf_test_%d_%d", os.Getpid(), schemas.Add(1)),
		Analyzer: storetest.Analyzer(t, "en")}
	t.Cleanup(func() {
		if err := postgres.Drop(context.Background(), o.URL, o.Schema); err != nil {
			t.Error(err)
		}
	})
	return o
}

// stores opens stores for one test.
func stores() *storetest.Stores[postgres.Options] {
	return &storetest.Stores[postgres.Options]{New: options,
		With: func(ctx context.Context, o postgres.Options) (store.Backend, error) { return postgres.Open(ctx, o) }}
}

// longPhrase reports whether the store refuses a request because its phrase has too many words.
func longPhrase(req store.Request) bool {
	if req.Text == nil {
		return false
	}
	p, ok := req.Text.Query.(sheaf.Phrase)
	return ok && len(strings.Fields(p.Text)) > postgres.MaxPhrase
}

func TestConformance(t *testing.T) {
	for name, hnsw := range map[string]int{"exact": 0, "hnsw": 16} {
		t.Run(name, func(t *testing.T) {
			s := stores()
			storetest.Run(t, storetest.Options{
				Open: func(t testing.TB) store.Backend {
					o := options(t)
					o.HNSW = hnsw
					return s.Open(t, o)
				},
				Reopen: s.Reopen,
				Lacks:  longPhrase,
			})
		})
	}
}

// TestRandomHistories compares the store with the oracle; a failure names its seed.
func TestRandomHistories(t *testing.T) {
	histories, steps := 2, 30
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		histories, steps = 30, 100
	}
	first := rand.Uint64N(1 << 32)
	for n := range histories {
		seed := first + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := stores()
			last := s.Open(t, options(t))
			storetest.RandomHistory(t, seed, steps, last, memory.New(storetest.Analyzer(t, "en")),
				func(b store.Backend) store.Backend {
					last = s.Reopen(t, b)
					return last
				})
			must.Do(t, last.Close())
		})
	}
}
