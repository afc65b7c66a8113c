package storekit

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"sheaf/text/analysis"
)

// Field is an analyzed field of a chunk.
type Field struct {
	// Postings has one entry for each term, sorted by term. Forms, whose text begins with FormMark,
	// come first.
	Postings []Posting
	// Length is the number of terms, without forms.
	Length int
}

// Posting is a term of a field.
type Posting struct {
	Term      string
	Frequency int
	// Positions ascend; forms have none.
	Positions []int32
}

// Writer analyzes texts to write. Words repeat, so it remembers the terms of each. It is safe for
// concurrent use.
type Writer struct {
	analyzer *analysis.Analyzer

	mu    sync.RWMutex
	words map[string]word
}

// word has the terms of a raw word, with FormMark before forms, and the number of its positions.
type word struct {
	terms     []analysis.Term
	positions int
}

const (
	// maxWords limits the remembered words: with more, the Writer forgets all of them.
	maxWords = 1 << 16
	// maxWord is the length in bytes up to which words are remembered.
	maxWord = 64
)

// NewWriter returns a Writer that analyzes texts with a.
func NewWriter(a *analysis.Analyzer) *Writer { return &Writer{analyzer: a, words: map[string]word{}} }

// Analyze analyzes the text of a field.
func (w *Writer) Analyze(text string) Field {
	var out Field
	at, position := make(map[string]int, len(text)/16), 0 // the index of each term's posting
	w.analyzer.Words(text, func(start, end int) bool {
		word := w.word(text[start:end])
		for _, t := range word.terms {
			i, ok := at[t.Text]
			if !ok {
				i = len(out.Postings)
				at[t.Text] = i
				out.Postings = append(out.Postings, Posting{Term: t.Text})
			}
			p := &out.Postings[i]
			p.Frequency++
			if !t.Form {
				p.Positions = append(p.Positions, int32(position+t.Offset))
				out.Length++
			}
		}
		position += word.positions
		return true
	})
	for i := range out.Postings {
		if p := out.Postings[i].Positions; !slices.IsSorted(p) { // the parts of one word may be out of order
			slices.Sort(p)
		}
	}
	slices.SortFunc(out.Postings, func(a, b Posting) int { return cmp.Compare(a.Term, b.Term) })
	return out
}

// word returns the terms of a raw word.
func (w *Writer) word(raw string) word {
	w.mu.RLock()
	known, ok := w.words[raw]
	w.mu.RUnlock()
	if ok {
		return known
	}
	raw = strings.Clone(raw) // otherwise it would keep the caller's text
	terms := w.analyzer.Terms(nil, raw)
	out := word{terms, w.analyzer.Positions(terms)}
	for i := range terms {
		if terms[i].Form {
			terms[i].Text = FormMark + terms[i].Text
		}
	}
	if len(raw) <= maxWord {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.words) >= maxWords {
			clear(w.words)
		}
		w.words[raw] = out
	}
	return out
}
