package memory

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
)

// NewFor returns an empty store that will be asked these queries by words, and
// no other: of texts it keeps only the terms that they look at, and how long the
// fields are. Its answers to them are those of [New], its memory is a fraction,
// and it is filled several times as fast: it is the index that lives as long as
// one query. Vectors and filters work as ever, but columns and vectors are those of
// the caller, who must not change them any more.
func NewFor(a *analysis.Analyzer, queries ...sheaf.TextQuery) *Backend {
	b := New(a)
	w := &wanted{exact: map[string]bool{}}
	for _, q := range queries {
		w.add(a, q)
	}
	b.wanted = w
	return b
}

// wanted tells the terms that some queries look at.
type wanted struct {
	exact map[string]bool
	// like accept terms and forms, the terms of likeTerms terms alone.
	like, likeTerms []func(term string) float64
}

func (w *wanted) add(a *analysis.Analyzer, q sheaf.TextQuery) {
	switch q := q.(type) {
	case sheaf.Match:
		w.addTokens(a.QueryTokens(q.Text))
	case sheaf.Phrase:
		w.addTokens(a.QueryTokens(q.Text))
	case sheaf.Prefix:
		w.addPieces(a, a.PrefixPieces(q.Text), prefixWeight)
	case sheaf.Fuzzy:
		w.addPieces(a, a.FuzzyPieces(q.Text), func(folded string) func(string) float64 { return fuzzyWeight(folded, q.Distance) })
	case sheaf.Boost:
		w.add(a, q.Query)
	case sheaf.Bool:
		for _, parts := range [...][]sheaf.TextQuery{q.Must, q.Should, q.MustNot} {
			for _, part := range parts {
				w.add(a, part)
			}
		}
	}
}

func (w *wanted) addTokens(tokens []analysis.Token) {
	for _, t := range tokens {
		if t.Prefix {
			w.likeTerms = append(w.likeTerms, prefixWeight(t.Term))
			continue
		}
		w.exact[t.Term] = true
	}
}

func (w *wanted) addPieces(a *analysis.Analyzer, pieces []analysis.Piece, weight func(folded string) func(string) float64) {
	for _, p := range pieces {
		if p.Exact {
			w.addTokens(a.QueryTokens(p.Text))
			continue
		}
		w.like = append(w.like, weight(p.Text))
	}
}

func (w *wanted) accepts(t *analysis.Term) bool {
	if !t.Form {
		if w.exact[t.Text] {
			return true
		}
		for _, weight := range w.likeTerms {
			if weight(t.Text) > 0 {
				return true
			}
		}
	}
	for _, weight := range w.like {
		if weight(t.Text) > 0 {
			return true
		}
	}
	return false
}

// word is what a raw word adds to a field.
type word struct {
	terms     []analysis.Term // those that are kept
	length    int             // terms that are no forms, kept or not
	positions int
}

// vocabulary remembers what raw words are made of. It serves one goroutine.
type vocabulary struct {
	analyzer *analysis.Analyzer
	wanted   *wanted // nil keeps every term
	words    map[string]word
	terms    []analysis.Term
	last     map[string]analyzed // by field
}

// analyzed is a text and what became of it.
type analyzed struct {
	text  string
	field *field
}

// maxVocabulary bounds how many raw words are remembered, so that hostile text
// cannot take more memory than it has bytes.
const maxVocabulary = 1 << 16

func (b *Backend) vocabulary() *vocabulary {
	return &vocabulary{analyzer: b.analyzer, wanted: b.wanted, words: map[string]word{}, last: map[string]analyzed{}}
}

// shared is field, but the same text as that of the chunk before is not analyzed
// again: chunks of one document have its path and properties in common.
func (v *vocabulary) shared(f backend.Field) *field {
	last, ok := v.last[f.Name]
	if !ok || last.text != f.Text {
		last = analyzed{f.Text, v.field(f.Text)}
		v.last[f.Name] = last
	}
	return last.field
}

func (v *vocabulary) word(raw string) word {
	if w, ok := v.words[raw]; ok {
		return w
	}
	v.terms = v.analyzer.Terms(v.terms[:0], raw)
	w := word{positions: v.analyzer.Positions(v.terms)}
	for i := range v.terms {
		t := &v.terms[i]
		if !t.Form {
			w.length++
		}
		if v.wanted == nil || v.wanted.accepts(t) {
			// The text may be a part of the document's, which is not to be
			// kept for it.
			kept := *t
			kept.Text = strings.Clone(t.Text)
			w.terms = append(w.terms, kept)
		}
	}
	if len(v.words) < maxVocabulary {
		v.words[strings.Clone(raw)] = w
	}
	return w
}

// field analyzes a text; nil when it holds no term.
func (v *vocabulary) field(text string) *field {
	out := &field{}
	position := 0
	v.analyzer.Words(text, func(start, end int) bool {
		w := v.word(text[start:end])
		for i := range w.terms {
			t := &w.terms[i]
			if t.Form {
				if out.forms == nil {
					out.forms = map[string]int{}
				}
				out.forms[t.Text]++
				continue
			}
			if out.terms == nil {
				out.terms = map[string][]int{}
			}
			out.terms[t.Text] = append(out.terms[t.Text], position+t.Offset)
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

// parallelChunks is how many chunks a processor analyzes at a time; neighbors
// share texts.
const parallelChunks = 32

// analyzeAll analyzes chunks, in order.
func (b *Backend) analyzeAll(in []backend.Chunk) []*chunk {
	out := make([]*chunk, len(in))
	workers := runtime.GOMAXPROCS(0)
	if len(in) < parallelChunks {
		workers = 1
	}
	var group sync.WaitGroup
	var next atomic.Int64
	for range workers {
		group.Go(func() {
			v := b.vocabulary()
			for {
				to := int(next.Add(parallelChunks))
				for i := to - parallelChunks; i < min(to, len(in)); i++ {
					out[i] = b.analyze(v, &in[i])
				}
				if to >= len(in) {
					return
				}
			}
		})
	}
	group.Wait()
	return out
}
