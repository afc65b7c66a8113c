package analysis

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// remembered is a cache of the terms of recent words, because texts repeat few words. It evicts at
// random, takes no lock and never grows. It is one block of memory without pointers, so that the
// garbage collector does not scan it word by word.
type remembered struct {
	once  sync.Once
	seed  maphash.Seed
	slots []rememberedWord
}

// rememberedWord is a word with its terms, stored as numbers that are read and written one by one.
// A reader notices a concurrent write, because version then changes.
type rememberedWord struct {
	version atomic.Uint64 // odd during a write
	// lengths has the length of the raw word, 0 for none, and the number of terms, one byte each.
	lengths atomic.Uint64
	// terms has the length of each term's text, its range in the raw word, and its marks, one byte
	// each.
	terms [rememberedTerms]atomic.Uint64
	text  [rememberedBytes / 8]atomic.Uint64 // the raw word, then the texts of the terms
}

const (
	// rememberedSlots is more than the number of words in most texts.
	rememberedSlots = 16 << 10
	// rememberedBytes limits a word with its terms, and rememberedTerms the number of terms: few
	// words have more.
	rememberedBytes = 64
	rememberedTerms = 4
)

// Bits for the marks of a term.
const (
	rememberedForm = 1 << iota
	rememberedBare
	rememberedPart
	rememberedOver
)

// TermBuffer is memory for the terms of a word. The zero value is ready.
type TermBuffer struct {
	terms [rememberedTerms]Term
	text  [rememberedBytes / 8]uint64
}

// bytes returns the text memory of a buffer.
func (r *TermBuffer) bytes() *[rememberedBytes]byte {
	return (*[rememberedBytes]byte)(unsafe.Pointer(&r.text))
}

// read returns the terms of raw from w, in the memory of buffer; false when w has another word.
func (w *rememberedWord) read(raw string, buffer *TermBuffer) ([]Term, bool) {
	version, lengths := w.version.Load(), w.lengths.Load()
	n := int(lengths >> 8)
	if version&1 != 0 || int(lengths&0xff) != len(raw) || n > rememberedTerms {
		return nil, false
	}
	end := len(raw)
	for i := range n {
		t := w.terms[i].Load()
		buffer.terms[i] = Term{Offset: int(t >> 8 & 0xff), Start: int(t >> 16 & 0xff), End: int(t >> 24 & 0xff),
			Form: t>>32&rememberedForm != 0, Bare: t>>32&rememberedBare != 0, Part: t>>32&rememberedPart != 0,
			Over: t>>32&rememberedOver != 0}
		length := int(t & 0xff)
		if end+length > rememberedBytes { // a concurrent write
			return nil, false
		}
		text := unsafe.String(&buffer.bytes()[0], rememberedBytes)
		buffer.terms[i].Text = text[end : end+length]
		end += length
	}
	for i := range (end + 7) / 8 {
		buffer.text[i] = w.text[i].Load()
	}
	if w.version.Load() != version || string(buffer.bytes()[:len(raw)]) != raw {
		return nil, false
	}
	return buffer.terms[:n], true
}

// write stores a word with its terms in w, if there is room and no other write runs.
func (w *rememberedWord) write(raw string, terms []Term) {
	var buffer TermBuffer
	if len(terms) > rememberedTerms {
		return
	}
	var packed [rememberedTerms]uint64
	text := append(buffer.bytes()[:0], raw...)
	for i, t := range terms {
		if len(text)+len(t.Text) > rememberedBytes || max(t.Offset, t.Start, t.End) > 0xff ||
			min(t.Offset, t.Start, t.End) < 0 {
			return
		}
		text = append(text, t.Text...)
		packed[i] = uint64(len(t.Text)) | uint64(t.Offset)<<8 | uint64(t.Start)<<16 | uint64(t.End)<<24
		if t.Form {
			packed[i] |= rememberedForm << 32
		}
		if t.Bare {
			packed[i] |= rememberedBare << 32
		}
		if t.Part {
			packed[i] |= rememberedPart << 32
		}
		if t.Over {
			packed[i] |= rememberedOver << 32
		}
	}
	version := w.version.Load()
	if version&1 != 0 || !w.version.CompareAndSwap(version, version+1) {
		return
	}
	w.lengths.Store(uint64(len(raw)) | uint64(len(terms))<<8)
	for i := range terms {
		w.terms[i].Store(packed[i])
	}
	for i := range (len(text) + 7) / 8 {
		w.text[i].Store(buffer.text[i])
	}
	w.version.Store(version + 2)
}

// wordMemo caches the terms of recent single words, because parts of identifiers repeat. It is not
// safe for concurrent use.
type wordMemo struct {
	seed  maphash.Seed
	slots [1 << 12]struct {
		word string
		wordTerms
	}
}

// Remembering returns an analyzer that makes the same terms, faster when different words share
// parts, but not safe for concurrent use. It suits callers that analyze many different words, and
// takes some 300 kB.
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
		slot.word = strings.Clone(word) // word and its terms may be parts of a large text
		slot.wordTerms = a.wordTerms(slot.word)
	}
	return slot.wordTerms
}

// Known returns the terms of a raw word, as [Analyzer.Terms] makes them, from a cache if possible.
// The terms are in buffer and valid until its next use. Known suits code that reads a few texts for
// a query; indexing uses Terms.
func (a *Analyzer) Known(raw string, buffer *TermBuffer) []Term {
	if len(raw) > rememberedBytes || raw == "" {
		return a.Terms(buffer.terms[:0], raw)
	}
	a.known.once.Do(func() {
		a.known.seed, a.known.slots = maphash.MakeSeed(), make([]rememberedWord, rememberedSlots)
	})
	slot := &a.known.slots[maphash.String(a.known.seed, raw)%rememberedSlots]
	if terms, ok := slot.read(raw, buffer); ok {
		return terms
	}
	terms := a.Terms(buffer.terms[:0], raw)
	slot.write(raw, terms)
	return terms
}
