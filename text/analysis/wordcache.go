package analysis

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// wordSlots is the number of words that a cache holds, more than there are frequent words. A full cache takes about
	// 4 MB.
	wordSlots = 32 << 10
	// longestCached is the longest word in bytes that the cache holds.
	longestCached = 64
)

// wordCache caches the terms of recent single words, because texts repeat few words and stemming is slow. A word
// replaces the earlier word in its slot, so the cache never grows. The zero value is ready and safe for concurrent use.
type wordCache struct {
	once  sync.Once
	seed  maphash.Seed
	slots []atomic.Pointer[cachedWord]
}

type cachedWord struct {
	word string
	wordTerms
}

// cachedTerms returns the terms of a single word, from the cache if possible.
func (a *Analyzer) cachedTerms(word string) wordTerms {
	if len(word) > longestCached || a.stemmer.stem == nil && isASCII(word) { // such a word is its own term
		return a.wordTerms(word)
	}
	c := &a.cache
	c.once.Do(func() { c.seed, c.slots = maphash.MakeSeed(), make([]atomic.Pointer[cachedWord], wordSlots) })
	slot := &c.slots[maphash.String(c.seed, word)%wordSlots]
	known := slot.Load()
	if known == nil || known.word != word {
		word = strings.Clone(word) // word may be a part of a large text
		known = &cachedWord{word, a.wordTerms(word)}
		slot.Store(known)
	}
	return known.wordTerms
}
