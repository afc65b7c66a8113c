package analysis

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

// remembered keeps the terms of words that were met lately: the words of texts are
// few, and come again and again. It forgets at random, takes no lock and never
// grows.
type remembered struct {
	once  sync.Once
	seed  maphash.Seed
	slots []atomic.Pointer[rememberedWord]
}

type rememberedWord struct {
	raw   string
	terms []Term
}

const (
	// rememberedSlots is more words than most texts have.
	rememberedSlots = 16 << 10
	// rememberedBytes is the longest word that is worth it.
	rememberedBytes = 64
)

// Known is what [Analyzer.Terms] appends to nothing for a raw word, remembered
// from the last time that the word came. The terms are shared and must not be
// changed. It serves those who look at a few texts a query; an index is made with
// Terms.
func (a *Analyzer) Known(raw string) []Term {
	if len(raw) > rememberedBytes {
		return a.Terms(nil, raw)
	}
	a.known.once.Do(func() {
		a.known.seed, a.known.slots = maphash.MakeSeed(), make([]atomic.Pointer[rememberedWord], rememberedSlots)
	})
	slot := &a.known.slots[maphash.String(a.known.seed, raw)%rememberedSlots]
	if w := slot.Load(); w != nil && w.raw == raw {
		return w.terms
	}
	raw = strings.Clone(raw) // it may be a part of something large, and so may its terms
	w := &rememberedWord{raw, a.Terms(nil, raw)}
	slot.Store(w)
	return w.terms
}
