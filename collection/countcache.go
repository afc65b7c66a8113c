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
	n  map[answerKey]int
}

func (c *counts) get(at stamp, key answerKey) (n int, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == at {
		n, known = c.n[key]
	}
	return n, known
}

func (c *counts) put(at stamp, key answerKey, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.at.generation > at.generation, c.at.generation == at.generation && c.at.version > at.version:
		return
	case c.n == nil, c.at != at, len(c.n) >= maxCounts:
		c.at, c.n = at, map[answerKey]int{}
	}
	c.n[key] = n
}

// countKey returns the cache key of a request's count for a caller. ok is false if the request has
// a filter or does not search all fields, because such counts rarely repeat.
func countKey(visibleTo answerKey, req *store.Request) (key answerKey, ok bool) {
	if req.Filter != nil || req.Within != nil || req.Text == nil || req.Text.Combine != store.CombineBM25F ||
		len(req.Text.Fields) != len(sheaf.Fields) {
		return key, false
	}
	return keyOf(visibleTo, req.Text.Query, req.Text.Fields), true
}
