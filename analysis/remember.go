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

// wordMemo keeps the terms of single words that were met lately, as the parts of
// identifiers are again and again. Not safe for concurrent use.
type wordMemo struct {
	seed  maphash.Seed
	slots [1 << 12]struct {
		word string
		wordTerms
	}
}

// Remembering returns an analyzer that makes the same terms, faster when different
// words have the same parts, and is not safe for concurrent use. It is for those who analyze many
// words, each of them once, and takes some 300 kB.
func (a *Analyzer) Remembering() *Analyzer {
	return &Analyzer{o: a.o, stem: a.stem, function: a.function, elide: a.elide, folded: a.folded, initial: a.initial,
		words: &wordMemo{seed: maphash.MakeSeed()}}
}

func (m *wordMemo) terms(a *Analyzer, word string) wordTerms {
	if len(word) > rememberedBytes {
		return a.wordTerms(word)
	}
	slot := &m.slots[maphash.String(m.seed, word)%uint64(len(m.slots))]
	if slot.word != word {
		slot.word = strings.Clone(word) // it may be a part of something large, and so may its terms
		slot.wordTerms = a.wordTerms(slot.word)
	}
	return slot.wordTerms
}

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
