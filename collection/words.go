package collection

import (
	"crypto/sha256"
	"sync"
)

// wordCounts remembers in how many of the chunks that a caller sees words stand, at the
// newest stamp.
type wordCounts struct {
	mu     sync.Mutex
	at     stamp
	counts map[countKey]int
}

// countKey is what is counted, and among what. It holds no pointer: thousands are
// remembered, and whoever looks for garbage looks at every pointer.
type countKey [sha256.Size]byte

// countOf is the key of a word, or of something else that is counted, for an owner as the
// guard has it.
func countOf(owner cacheKey, what, word string) countKey {
	space := make([]byte, 0, 128)
	return sha256.Sum256(append(append(append(space, owner[:]...), what...), word...))
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
