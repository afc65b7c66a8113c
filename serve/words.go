package serve

import "sync"

// wordCounts remembers in how many of the chunks that a caller sees words stand, at the
// newest stamp.
type wordCounts struct {
	mu     sync.Mutex
	at     stamp
	counts map[countKey]int
}

// countKey is what is counted, and among what.
type countKey struct {
	owner cacheKey // as the guard has it
	what  string
}

// maxWords is how many counts are remembered.
const maxWords = 20_000

func (w *wordCounts) get(at stamp, key countKey) (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at != at {
		return 0, false
	}
	n, ok := w.counts[key]
	return n, ok
}

func (w *wordCounts) put(at stamp, key countKey, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.at.compare(at) > 0:
		return
	case w.counts == nil, w.at != at, len(w.counts) >= maxWords:
		w.at, w.counts = at, map[countKey]int{}
	}
	w.counts[key] = n
}
