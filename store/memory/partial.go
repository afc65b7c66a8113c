package memory

import (
	"runtime"
	"sync"
	"sync/atomic"

	"sheaf"
	"sheaf/store"
	"sheaf/text/analysis"
)

// NewFor returns an empty store for only these word queries: it keeps only the terms that they use,
// and the lengths of fields. Its answers equal those of [New], with a fraction of the memory, and it
// fills several times as fast. It suits an index for a single query. Vectors and filters work as
// usual, but columns and vectors belong to the caller, who must not change them later.
func NewFor(a *analysis.Analyzer, queries ...sheaf.TextQuery) *Backend {
	b := New(a)
	w := &wanted{exact: map[string]bool{}}
	for _, q := range queries {
		w.add(a, q)
	}
	b.wanted = w
	return b
}

// wanted has the terms that some queries use.
type wanted struct {
	exact map[string]bool
	// like accept terms and forms, likeTerms accept only terms.
	like, likeTerms []func(term string) float64
}

func (w *wanted) add(a *analysis.Analyzer, q sheaf.TextQuery) {
	switch q := q.(type) {
	case sheaf.Match:
		w.addTokens(a.QueryTokens(q.Text))
	case sheaf.Phrase:
		w.addTokens(a.QueryTokens(q.Text))
	case sheaf.Prefix:
		w.addPieces(a, a.PrefixPieces(q.Text), prefixWeight)
	case sheaf.Fuzzy:
		w.addPieces(a, a.FuzzyPieces(q.Text), func(folded string) func(string) float64 { return fuzzyWeight(folded, q) })
	case sheaf.Boost:
		w.add(a, q.Query)
	case sheaf.Bool:
		for _, parts := range [...][]sheaf.TextQuery{q.Must, q.Should, q.MustNot} {
			for _, part := range parts {
				w.add(a, part)
			}
		}
	}
}

func (w *wanted) addTokens(tokens []analysis.Token) {
	for _, t := range tokens {
		if t.Prefix {
			w.likeTerms = append(w.likeTerms, prefixWeight(t.Term))
			continue
		}
		w.exact[t.Term] = true
	}
}

func (w *wanted) addPieces(a *analysis.Analyzer, pieces []analysis.Piece,
	weight func(folded string) func(string) float64) {
	for _, p := range pieces {
		if p.Exact {
			w.addTokens(a.QueryTokens(p.Text))
			continue
		}
		w.like = append(w.like, weight(p.Text))
	}
}

// begins returns the first bytes of the terms that a query wants; nil when every word may be wanted.
func (w *wanted) begins() *[256]bool {
	if w == nil || len(w.like)+len(w.likeTerms) > 0 {
		return nil
	}
	var begins [256]bool
	for term := range w.exact {
		begins[term[0]] = true
	}
	return &begins
}

func (w *wanted) accepts(t *analysis.Term) bool {
	if !t.Form {
		if w.exact[t.Text] {
			return true
		}
		for _, weight := range w.likeTerms {
			if weight(t.Text) > 0 {
				return true
			}
		}
	}
	for _, weight := range w.like {
		if weight(t.Text) > 0 {
			return true
		}
	}
	return false
}

// parallelChunks is how many chunks a processor analyzes at a time; neighbors share texts.
const parallelChunks = 32

// analyzeAll analyzes chunks, in order. It requires b.writing.
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
