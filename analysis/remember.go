package analysis

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
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
	// Room for the terms of most words, and for all texts.
	room [2]Term
	text [32]byte
}

// remember is a word with its terms in one piece of memory, if they are as short as most:
// raw may be a part of something large, and so may its terms; and many small pieces are
// much to look through for what is garbage.
func remember(raw string, terms []Term) *rememberedWord {
	w := &rememberedWord{}
	text := append(w.text[:0], raw...)
	for i := range terms {
		text = append(text, terms[i].Text...)
	}
	rest := unsafe.String(unsafe.SliceData(text), len(text)) // which nobody changes any more
	w.raw, rest, w.terms = rest[:len(raw)], rest[len(raw):], w.room[:0]
	for _, t := range terms {
		n := len(t.Text)
		t.Text, rest = rest[:n], rest[n:]
		w.terms = append(w.terms, t)
	}
	return w
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
	var space [4]Term
	w := remember(raw, a.Terms(space[:0], raw))
	slot.Store(w)
	return w.terms
}
