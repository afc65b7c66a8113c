package collection

import (
	"sync"

	"sheaf"
	"sheaf/store"
)

// maxCounts bounds the number of cached counts.
const maxCounts = 20_000

// counts caches how many of a caller's visible chunks hold a word, at the newest state of the index. Every search
// counts its words. For a restricted caller, counting takes half as long as the search (BenchmarkSearch).
type counts struct {
	mu sync.Mutex
	at stamp
	n  map[countKey]int
}

// countKey names a count and its caller.
type countKey struct {
	visibleTo answerKey
	what      string // the kind of a query, a space, and its text
}

func (c *counts) get(at stamp, key countKey) (n int, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == at {
		n, known = c.n[key]
	}
	return n, known
}

func (c *counts) put(at stamp, key countKey, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.at.generation > at.generation, c.at.generation == at.generation && c.at.version > at.version:
		return
	case c.n == nil, c.at != at, len(c.n) >= maxCounts:
		c.at, c.n = at, map[countKey]int{}
	}
	c.n[key] = n
}

// counted names the count of a request: all chunks, or chunks with a word or a phrase in any field. It returns "" for
// other requests.
func counted(req *store.Request) string {
	if req.Filter != nil || req.Within != nil || req.Text == nil || req.Text.Combine != store.CombineBM25F ||
		len(req.Text.Fields) != len(sheaf.Fields) {
		return ""
	}
	for i, f := range req.Text.Fields {
		if f.Name != sheaf.Fields[i] {
			return ""
		}
	}
	switch q := req.Text.Query.(type) {
	case sheaf.Match:
		if q == (sheaf.Match{Text: q.Text}) {
			return "word " + q.Text
		}
	case sheaf.Phrase:
		if q == (sheaf.Phrase{Text: q.Text}) {
			return "phrase " + q.Text
		}
	case sheaf.Bool:
		if len(q.Must)+len(q.Should)+len(q.MustNot) == 0 {
			return "all"
		}
	}
	return ""
}
