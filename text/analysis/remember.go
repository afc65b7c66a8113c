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
// grows. All lies in one piece of memory without pointers, so that whoever looks for
// garbage does not look at words one by one.
type remembered struct {
	once  sync.Once
	seed  maphash.Seed
	slots []rememberedWord
}

// rememberedWord is a word with its terms, as numbers that are read and written one by
// one: whoever reads sees that somebody wrote meanwhile, and that version differs then.
type rememberedWord struct {
	version atomic.Uint64 // odd while somebody writes
	// lengths are that of the raw word, 0 for none, and how many terms follow, a byte each.
	lengths atomic.Uint64
	// terms are the length of each term's text, its place in the raw word, and its marks,
	// a byte each.
	terms [rememberedTerms]atomic.Uint64
	text  [rememberedBytes / 8]atomic.Uint64 // the raw word and the texts, one after another
}

const (
	// rememberedSlots is more words than most texts have.
	rememberedSlots = 16 << 10
	// rememberedBytes are the longest word with its terms that is worth it, and
	// rememberedTerms the most of these: few words have more.
	rememberedBytes = 64
	rememberedTerms = 4
)

// Bits of the marks of a term.
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

// bytes is the text of a buffer.
func (r *TermBuffer) bytes() *[rememberedBytes]byte {
	return (*[rememberedBytes]byte)(unsafe.Pointer(&r.text))
}

// read is the terms of raw that w holds, in memory of buffer; false when it holds none.
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
		if end+length > rememberedBytes { // somebody writes
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

// write makes w hold a word with its terms, if there is room and nobody else writes.
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
// from the last time that the word came. The terms lie in buffer and are valid until it
// is used again. It serves those who look at a few texts a query; an index is made with
// Terms.
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
