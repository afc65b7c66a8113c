package serve

import "sync"

// wordCounts remembers in how many of the chunks that a caller sees words stand, for one
// generation of the index.
type wordCounts struct {
	mu         sync.Mutex
	generation uint64
	counts     map[countKey]int
}

// countKey is what is counted, and among what.
type countKey struct {
	owner cacheKey // as the guard has it
	what  string
}

// maxWords is how many counts are remembered.
const maxWords = 20_000

func (w *wordCounts) get(generation uint64, key countKey) (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.generation != generation {
		return 0, false
	}
	n, ok := w.counts[key]
	return n, ok
}

func (w *wordCounts) put(generation uint64, key countKey, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.generation > generation:
		return
	case w.counts == nil, w.generation != generation, len(w.counts) >= maxWords:
		w.generation, w.counts = generation, map[countKey]int{}
	}
	w.counts[key] = n
}
