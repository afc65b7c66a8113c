package elastic_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
	"sheaf/backend/backendtest"
	"sheaf/backend/elastic"
	"sheaf/backend/memory"
	"sheaf/backend/textplan"
)

// server is the address of an OpenSearch server for tests, which skip without
// one: scripts/servers/opensearch.sh starts one.
func server(t testing.TB) string {
	url := os.Getenv("SHEAF_TEST_OPENSEARCH")
	if url == "" {
		t.Skip("no OpenSearch: SHEAF_TEST_OPENSEARCH is not set; see scripts/servers/opensearch.sh")
	}
	return url
}

var indices atomic.Int64

// options are those of a new, empty store, which the end of the test removes.
func options(t testing.TB) elastic.Options {
	o := elastic.Options{URL: server(t), Index: fmt.Sprintf("sheaf-test-%d-%d", os.Getpid(), indices.Add(1)), Analyzer: backendtest.Analyzer(t, "en")}
	t.Cleanup(func() {
		if err := elastic.Drop(context.Background(), o); err != nil {
			t.Error(err)
		}
	})
	return o
}

// stores opens stores for one test.
func stores() *backendtest.Stores[elastic.Options] {
	return &backendtest.Stores[elastic.Options]{New: options, With: func(ctx context.Context, o elastic.Options) (backend.Backend, error) { return elastic.Open(ctx, o) }}
}

// repeats tells phrases with slop in which Lucene and the oracle differ.
func repeats(req backend.Request) bool {
	if req.Text == nil {
		return false
	}
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		panic(err) // English is always there
	}
	plan := textplan.Compile(a, req.Text)
	return plan.Repeats()
}

// lacks tells what Lucene does not compute.
func lacks(req backend.Request) bool {
	if t := req.Text; t != nil {
		if p, ok := t.Query.(sheaf.Phrase); ok && len(strings.Fields(p.Text)) > 1000 {
			return true // more clauses than the server takes
		}
		return repeats(req) || t.Combine == backend.CombineBM25F || t.K1 != backend.DefaultK1 || t.B != backend.DefaultB ||
			t.Statistics == backend.StatisticsCandidates && (req.Filter != nil || req.Within != nil)
	}
	return false
}

func TestConformance(t *testing.T) {
	for name, hnsw := range map[string]bool{"exact": false, "hnsw": true} {
		t.Run(name, func(t *testing.T) {
			if hnsw && os.Getenv("SHEAF_TEST_LONG") == "" {
				t.Skip("only with SHEAF_TEST_LONG: making an index takes a second")
			}
			s := stores()
			backendtest.Run(t, backendtest.Options{
				Open: func(t testing.TB) backend.Backend {
					o := options(t)
					o.HNSW = hnsw
					return s.Open(t, o)
				},
				Reopen:    s.Reopen,
				Lacks:     lacks,
				Tolerance: 1e-5, // float32
			})
		})
	}
}

// rewritten is a store that is written anew whenever it changes: Lucene counts
// chunks that were replaced until it merges them away, some minutes later.
type rewritten struct {
	*elastic.Store
	t      *testing.T
	o      elastic.Options
	chunks map[sheaf.ID]backend.Chunk
}

func (r *rewritten) Write(ctx context.Context, b backend.Batch) error {
	for id, c := range r.chunks {
		if slices.Contains(b.Replace, c.Doc) {
			delete(r.chunks, id)
		}
	}
	for _, c := range b.Chunks {
		r.chunks[c.ID] = c
	}
	if err := r.Close(); err != nil {
		return err
	}
	if err := elastic.Drop(ctx, r.o); err != nil {
		return err
	}
	r.Store = stores().Open(r.t, r.o).(*elastic.Store)
	return r.Store.Write(ctx, backend.Batch{Chunks: slices.Collect(maps.Values(r.chunks))})
}

func (r *rewritten) Delete(ctx context.Context, docs []sheaf.ID) error {
	return r.Write(ctx, backend.Batch{Replace: docs})
}

// TestRandomHistories compares the store with the oracle; a failure names its
// seed. Lengths, of which Lucene keeps four bits, count in no score here.
func TestRandomHistories(t *testing.T) {
	histories, steps := 2, 6
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		histories, steps = 20, 40
	}
	first := rand.Uint64N(1 << 32)
	for n := range histories {
		seed := first + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := options(t)
			o.K1 = 1.2
			r := &rewritten{Store: stores().Open(t, o).(*elastic.Store), t: t, o: o, chunks: map[sheaf.ID]backend.Chunk{}}
			defer func() { r.Close() }()
			backendtest.Limited(r, backendtest.Options{Tolerance: 1e-5, Lacks: repeats, Shape: func(req *backend.Request) {
				req.Text.K1, req.Text.B, req.Text.Statistics, req.Text.Combine = 1.2, 0, backend.StatisticsCorpus, req.Text.Combine%2
			}})
			backendtest.RandomHistory(t, seed, steps, r, memory.New(backendtest.Analyzer(t, "en")), nil)
		})
	}
}
