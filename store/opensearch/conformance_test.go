package opensearch_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
	"sheaf/text/analysis"
)

// serverOf returns the address of a server for tests. Without a server the test is skipped. The
// script with the name of the dialect in scripts/servers starts one.
func serverOf(t testing.TB, d opensearch.Dialect) string {
	variable := "SHEAF_TEST_" + strings.ToUpper(d.String())
	url := os.Getenv(variable)
	if url == "" {
		t.Skipf("no server: %s is not set; see scripts/servers/%s.sh", variable, d)
	}
	return url
}

// each runs a test on both kinds of server.
func each(t *testing.T, test func(t *testing.T, s *storetest.Stores[opensearch.Options])) {
	for _, d := range []opensearch.Dialect{opensearch.OpenSearch, opensearch.Elasticsearch} {
		t.Run(d.String(), func(t *testing.T) { test(t, storesOf(d)) })
	}
}

var indices atomic.Int64

// optionsOf returns options of a new, empty store, and removes the store at the end of the test.
func optionsOf(t testing.TB, d opensearch.Dialect) opensearch.Options {
	o := opensearch.Options{Options: storekit.Options{URL: serverOf(t, d), Analyzer: storetest.Analyzer(t, "en")},
		Dialect: d, Index: fmt.Sprintf("sheaf-test-%d-%d", os.Getpid(), indices.Add(1))}
	t.Cleanup(func() {
		if err := opensearch.Drop(context.Background(), o); err != nil {
			t.Error(err)
		}
	})
	return o
}

// storesOf opens stores on one kind of server for one test.
func storesOf(d opensearch.Dialect) *storetest.Stores[opensearch.Options] {
	return &storetest.Stores[opensearch.Options]{New: func(t testing.TB) opensearch.Options { return optionsOf(t, d) },
		With: func(ctx context.Context, o opensearch.Options) (store.Backend, error) { return opensearch.Open(ctx, o) }}
}

// repeats reports whether Lucene and the oracle may differ: a phrase with slop repeats a word.
func repeats(req store.Request) bool {
	if req.Text == nil {
		return false
	}
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		panic(err) // analysis always has English
	}
	plan := storekit.Compile(a, req.Text)
	return plan.Repeats()
}

// lacks reports whether Lucene cannot compute a request.
func lacks(req store.Request) bool {
	if t := req.Text; t != nil {
		if p, ok := t.Query.(sheaf.Phrase); ok && len(strings.Fields(p.Text)) > 1000 {
			return true // more clauses than the server allows
		}
		return repeats(req) || t.Combine == store.CombineBM25F || t.K1 != store.DefaultK1 || t.B != store.DefaultB ||
			t.Statistics == store.StatisticsCandidates && (req.Filter != nil || req.Within != nil)
	}
	return false
}

func TestConformance(t *testing.T) { each(t, conformance) }

func conformance(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	for name, hnsw := range map[string]bool{"exact": false, "hnsw": true} {
		t.Run(name, func(t *testing.T) {
			if hnsw && os.Getenv("SHEAF_TEST_LONG") == "" {
				t.Skip("only with SHEAF_TEST_LONG: making an index takes a second")
			}
			storetest.Run(t, storetest.Options{
				Open: func(t testing.TB) store.Backend {
					o := s.New(t)
					o.HNSW = hnsw
					return s.Open(t, o)
				},
				Reopen:    s.Reopen,
				Lacks:     lacks,
				Tolerance: 1e-5, // scores are float32
			})
		})
	}
}

// rewritten is a store that is made again for each change. Lucene counts replaced chunks until it
// merges segments, some minutes later.
type rewritten struct {
	*opensearch.Store
	t      *testing.T
	o      opensearch.Options
	chunks map[sheaf.ID]store.Chunk
}

func (r *rewritten) Write(ctx context.Context, b store.Batch) error {
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
	if err := opensearch.Drop(ctx, r.o); err != nil {
		return err
	}
	r.Store = storesOf(r.o.Dialect).Open(r.t, r.o).(*opensearch.Store)
	return r.Store.Write(ctx, store.Batch{Chunks: slices.Collect(maps.Values(r.chunks))})
}

// TestRandomHistories compares the store with the oracle. Lengths, which Lucene keeps with four
// bits, do not count in these scores. A failure names the seed.
func TestRandomHistories(t *testing.T) { each(t, randomHistories) }

func randomHistories(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	histories, steps := 2, 6
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		histories, steps = 20, 40
	}
	first := rand.Uint64N(1 << 32)
	for n := range histories {
		seed := first + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := s.New(t)
			o.K1 = 1.2
			r := &rewritten{Store: s.Open(t, o).(*opensearch.Store), t: t, o: o, chunks: map[sheaf.ID]store.Chunk{}}
			defer func() { r.Close() }()
			// The server refuses queries whose prefixes expand to too many words.
			lacks := func(req store.Request) bool {
				if repeats(req) {
					return true
				}
				_, err := r.Retrieve(t.Context(), req)
				return errors.Is(err, sheaf.ErrUnsupported) && strings.Contains(err.Error(), "clauses, the server takes")
			}
			storetest.Limited(r, storetest.Options{Tolerance: 1e-5, Lacks: lacks, Shape: func(req *store.Request) {
				req.Text.K1, req.Text.B, req.Text.Combine = 1.2, 0, req.Text.Combine%2
				req.Text.Statistics, req.Text.Among = store.StatisticsCorpus, nil
			}})
			storetest.RandomHistory(t, seed, steps, r, memory.New(storetest.Analyzer(t, "en")), nil)
		})
	}
}
