package memory

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/text/analysis"
)

// NewFor returns an empty store that can answer only these word queries. It keeps only the terms of the queries, and
// the lengths of fields. Its answers equal the answers of a store from [New]. It needs a fraction of the memory, and
// writes are several times as fast. NewFor suits an index that is made for a single query. Vector requests and filters
// work as usual. The store keeps the caller's columns and vectors, so the caller must not change them later.
func NewFor(a *analysis.Analyzer, queries ...sheaf.TextQuery) *Backend {
	b := New(a)
	b.wanted = &wantedTerms{exact: map[string]bool{}}
	for _, q := range queries {
		plan := storekit.Compile(a, &store.TextRequest{Query: q})
		storekit.Walk(plan.Root, b.wanted.add)
	}
	return b
}

// wantedTerms has the terms of the queries that a store from NewFor can answer.
type wantedTerms struct {
	exact   map[string]bool
	expands []storekit.Expand
}

func (w *wantedTerms) add(n storekit.Node) {
	switch n := n.(type) {
	case storekit.Term:
		w.exact[n.Text] = true
	case storekit.Phrase:
		for _, t := range n.Tokens {
			w.exact[t.Text] = true
		}
	case storekit.Expand:
		w.expands = append(w.expands, n)
	}
}

// begins returns the set of the first bytes of the wanted terms. If any word may be wanted, it returns nil.
func (w *wantedTerms) begins() *[256]bool {
	if w == nil || len(w.expands) > 0 {
		return nil
	}
	var begins [256]bool
	for term := range w.exact {
		begins[term[0]] = true
	}
	return &begins
}

func (w *wantedTerms) accepts(t *analysis.Term) bool {
	return !t.Form && w.exact[t.Text] ||
		slices.ContainsFunc(w.expands, func(e storekit.Expand) bool {
			return (e.Forms || !t.Form) && e.Weight(t.Text) > 0
		})
}

// parallelChunks is the largest number of chunks that a worker takes at a time. Neighboring chunks often share texts,
// and one worker analyzes equal texts in a row only once.
const parallelChunks = 32

// analyzeAll analyzes chunks and returns them in the same order. The caller must hold b.writing.
func (b *Backend) analyzeAll(in []store.Chunk) []*chunk {
	out := make([]*chunk, len(in))
	workers := runtime.GOMAXPROCS(0)
	if len(in) < parallelChunks {
		workers = 1
	}
	var group sync.WaitGroup
	var next atomic.Int64
	for w := range workers {
		v := b.vocabulary(w)
		group.Go(func() {
			for {
				to := int(next.Add(parallelChunks))
				for i := to - parallelChunks; i < min(to, len(in)); i++ {
					out[i] = b.analyze(v, &in[i])
				}
				if to >= len(in) {
					return
				}
			}
		})
	}
	group.Wait()
	return out
}
