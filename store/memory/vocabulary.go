package memory

import (
	"strings"

	"sheaf/store"
	"sheaf/text/analysis"
)

// word has the terms that one raw word adds to a field.
type word struct {
	terms     []analysis.Term // the terms that the store keeps
	length    int             // number of all terms, without forms
	positions int
}

// vocabulary caches the terms of raw words. Only one goroutine may use it.
type vocabulary struct {
	analyzer  *analysis.Analyzer
	wanted    *wantedTerms // nil keeps every term
	words     map[string]*word
	lastTexts map[string]analyzedText // the last text of each field
	terms     []analysis.Term
	begins    *[256]bool // first bytes of wanted terms; nil when any word may be wanted
}

// single is the result for every raw word with exactly one term, if the store does not keep this term.
var single = word{length: 1, positions: 1}

// analyzedText is a text with the terms that its analysis found.
type analyzedText struct {
	text  string
	field *field
}

// maxVocabulary limits the number of cached raw words, so that a hostile text cannot fill the memory.
const maxVocabulary = 1 << 16

// vocabulary returns the vocabulary of worker number worker. The caller must hold b.writing.
func (b *Backend) vocabulary(worker int) *vocabulary {
	if worker < len(b.vocabularies) {
		v := b.vocabularies[worker]
		clear(v.lastTexts) // drops the texts of an earlier write
		return v
	}
	v := &vocabulary{analyzer: b.analyzer, wanted: b.wanted, words: map[string]*word{},
		lastTexts: map[string]analyzedText{}, begins: b.wanted.begins()}
	if b.wanted != nil && worker == len(b.vocabularies) {
		b.vocabularies = append(b.vocabularies, v)
	}
	return v
}

// word returns the terms of a raw word.
func (v *vocabulary) word(raw string) *word {
	if v.begins != nil {
		if first := v.analyzer.Initial(raw); first != 0 && !v.begins[first] {
			return &single // the most frequent case: no term is wanted
		}
	}
	w := v.words[raw]
	if w == nil {
		w = v.make(raw)
		if len(v.words) < maxVocabulary {
			v.words[strings.Clone(raw)] = w
		}
	}
	return w
}

func (v *vocabulary) make(raw string) *word {
	v.terms = v.analyzer.Terms(v.terms[:0], raw)
	w := &word{positions: v.analyzer.Positions(v.terms)}
	for i := range v.terms {
		t := &v.terms[i]
		if !t.Form {
			w.length++
		}
		if v.wanted == nil || v.wanted.accepts(t) {
			// Clone the text: it may be a part of a document, which would stay in memory.
			kept := *t
			kept.Text = strings.Clone(t.Text)
			w.terms = append(w.terms, kept)
		}
	}
	return w
}

// analyze returns the analyzed field for a text. If the last chunk had the same text in this field, both chunks share
// the result. This saves memory, because chunks of one document often have equal texts.
func (v *vocabulary) analyze(f store.Field) *field {
	last, ok := v.lastTexts[f.Name]
	if !ok || last.text != f.Text {
		last = analyzedText{f.Text, v.field(f.Text)}
		v.lastTexts[f.Name] = last
	}
	return last.field
}

// field analyzes a text. It returns nil if the text has no terms.
func (v *vocabulary) field(text string) *field {
	out := &field{}
	position := 0
	v.analyzer.Words(text, func(start, end int) bool {
		w := v.word(text[start:end])
		for i := range w.terms {
			out.add(&w.terms[i], position)
		}
		out.length += w.length
		position += w.positions
		return true
	})
	if out.length == 0 {
		return nil
	}
	return out
}

func (f *field) add(t *analysis.Term, position int) {
	if t.Form {
		if f.forms == nil {
			f.forms = map[string]int{}
		}
		f.forms[t.Text]++
		return
	}
	if f.terms == nil {
		f.terms = map[string][]int{}
	}
	f.terms[t.Text] = append(f.terms[t.Text], position+t.Offset)
}
