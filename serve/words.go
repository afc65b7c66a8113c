package serve

import "sync"

// wordCounts remembers in how many chunks words stand, for one generation of the
// index.
type wordCounts struct {
	mu         sync.Mutex
	generation uint64
	counts     map[string]int
}

// maxWords is how many words are remembered.
const maxWords = 20_000

func (w *wordCounts) get(generation uint64, word string) (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.generation != generation {
		return 0, false
	}
	n, ok := w.counts[word]
	return n, ok
}

func (w *wordCounts) put(generation uint64, word string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.generation > generation:
		return
	case w.counts == nil, w.generation != generation, len(w.counts) >= maxWords:
		w.generation, w.counts = generation, map[string]int{}
	}
	w.counts[word] = n
}
