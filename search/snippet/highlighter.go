// Package snippet cuts the part of a text that best shows why it was found, with marked matches: see [Highlighter].
package snippet

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"sheaf"
	"sheaf/internal/edits"
	"sheaf/text/analysis"
)

// Highlighter finds the words of one query in texts. It is not safe for concurrent use.
type Highlighter struct {
	analyzer *analysis.Analyzer
	terms    []term
	numbers  map[string]int // from a term to its index in terms
	expanded []queryTerm
	// phrases are the query's phrases of several words. Each word is a set of terms, with one bit for each term.
	phrases [][]uint64
	// typed are words as the user typed them. The highlighter searches the later parts of a long text for these words.
	typed []typedWord
	// full is the sum of the weights of all terms that dropCommon keeps.
	full float64
	// screen quickly excludes words of a text that cannot match.
	screen *analysis.Screen
	// known caches the matches within words of texts, by word.
	known   map[string][]wordMatch
	buffer  []analysis.Term // for the terms of a word
	matches []match         // for the matches of a text
}

// term is a term of the query with its rarity.
type term struct {
	weight float64 // all of rarity for a whole word, an equal share of rarity for a part of a word
	rarity float64 // the rarity of its word
	phrase bool
}

// typedWord is a word of the query with its rarity.
type typedWord struct {
	text   string
	rarity float64
}

// queryTerm is a word of the query that matches other terms than its own, such as a prefix. The highlighter compares
// each queryTerm with each term of a text.
type queryTerm struct {
	text string
	how  matchKind
	// distance is the largest number of typing errors in a match of a fuzzy word.
	distance int
	term     int // index in Highlighter.terms
}

type matchKind uint8

const (
	fuzzy  matchKind = iota // a term or an unstemmed form is spelled like the query's word
	prefix                  // a term or an unstemmed form begins with the query's word
	begin                   // a term begins with the query's word; only its first character is marked
)

// matches reports whether the prefix or fuzzy word matches a term of a text. The term may be an unstemmed form.
func (e *queryTerm) matches(t analysis.Term) bool {
	switch e.how {
	case fuzzy:
		return edits.Distance([]rune(t.Text), []rune(e.text), e.distance) <= e.distance
	case begin:
		return !t.Form && strings.HasPrefix(t.Text, e.text)
	}
	return strings.HasPrefix(t.Text, e.text)
}

// wordMatch is a matching range inside a word of the text, with the index of the term that it matches.
type wordMatch struct{ start, end, term int }

// mostKnown is the largest number of words of texts that a highlighter caches.
const mostKnown = 4096

// New returns a highlighter for the words of query. It skips forbidden words. It skips function words outside phrases
// if the query has other words. a is the analyzer of the indexed texts. rarity returns the rarity of a word, for
// example its idf. Outside phrases, the highlighter ignores words with less than a fifth of the largest rarity. If
// rarity is nil, all words count the same.
func New(a *analysis.Analyzer, query sheaf.TextQuery, rarity func(word string) float64) *Highlighter {
	h := &Highlighter{analyzer: a, numbers: map[string]int{}, known: map[string][]wordMatch{}}
	r := reader{h, rarity, true}
	r.collect(query)
	if len(h.terms) == 0 {
		r.stop = false
		r.collect(query)
	}
	h.dropCommon()
	beginnings := slices.Collect(maps.Keys(h.numbers))
	for _, e := range h.expanded {
		if e.how == fuzzy {
			beginnings = append(beginnings, "") // a fuzzy word may match words with any beginning
		}
		beginnings = append(beginnings, e.text)
	}
	h.screen = a.Screen(beginnings)
	return h
}

// dropCommon drops terms with less than a fifth of the largest rarity, except terms of phrases.
func (h *Highlighter) dropCommon() {
	best := 0.0
	for _, t := range h.terms {
		best = max(best, t.rarity)
	}
	const least = 0.2
	common := func(t term) bool { return t.rarity < least*best && !t.phrase }
	for text, i := range h.numbers {
		if common(h.terms[i]) {
			delete(h.numbers, text)
		}
	}
	for _, t := range h.terms {
		if !common(t) {
			h.full += t.weight
		}
	}
}

// reader collects the terms and phrases of a query for a highlighter.
type reader struct {
	*Highlighter
	rarity func(word string) float64
	stop   bool // skip function words
}

func (r *reader) collect(query sheaf.TextQuery) {
	for part := range sheaf.Wanted(query) {
		switch q := part.(type) {
		case sheaf.Match:
			if q.Field != sheaf.FieldPath { // texts have no paths
				r.addWords(q.Text, false)
			}
		case sheaf.Phrase:
			if q.Field == sheaf.FieldPath {
				continue
			}
			r.addWords(q.Text, true)
			if words := r.termsOf(q.Text); len(words) > 1 {
				r.phrases = append(r.phrases, words)
			}
		case sheaf.Prefix:
			r.addExpanded(prefix, r.analyzer.PrefixPieces(q.Text), 0)
		case sheaf.Fuzzy:
			r.addExpanded(fuzzy, r.analyzer.FuzzyPieces(q.Text), q.Distance)
		}
	}
}

func (r *reader) addWords(text string, phrase bool) {
	find := r.analyzer.QueryTokens
	if phrase {
		find = r.analyzer.PhraseTokens
	}
	r.analyzer.Words(text, func(start, end int) bool {
		raw := text[start:end]
		if r.stop && !phrase && r.analyzer.Stops(raw) {
			return true
		}
		tokens := find(raw)
		told := 1.0
		if r.rarity != nil {
			told = r.rarity(raw)
		}
		for _, t := range tokens {
			share := 1 / float64(len(tokens))
			if t.Start == 0 && t.End == len(raw) { // the term of the whole word
				share = 1
			}
			r.addTerm(t, term{told * share, told, phrase})
		}
		if len(tokens) > 0 {
			r.addTyped(raw, told)
		}
		return true
	})
}

func (r *reader) addTyped(word string, told float64) {
	if len(r.typed) < jumpWords {
		r.typed = append(r.typed, typedWord{word, told})
	}
}

func (r *reader) addTerm(t analysis.Token, as term) {
	if i, ok := r.numbers[t.Term]; ok {
		r.terms[i].phrase = r.terms[i].phrase || as.phrase
		return
	}
	if len(r.terms) == mostTerms {
		return
	}
	r.numbers[t.Term] = len(r.terms)
	if t.Prefix {
		r.expanded = append(r.expanded, queryTerm{text: t.Term, how: begin, term: len(r.terms)})
	}
	r.terms = append(r.terms, as)
}

// addExpanded adds the pieces of a prefix or fuzzy query. Exact pieces become phrases. Each other piece becomes a
// queryTerm with these values of how and distance.
func (r *reader) addExpanded(how matchKind, pieces []analysis.Piece, distance int) {
	for _, p := range pieces {
		if p.Exact {
			r.addWords(p.Text, true)
			continue
		}
		if len(r.terms) == mostTerms {
			return
		}
		r.expanded = append(r.expanded, queryTerm{p.Text, how, distance, len(r.terms)})
		r.terms = append(r.terms, term{1, 1, true})
		r.addTyped(p.Text, 1)
	}
}

// termsOf returns the words of a phrase. Each word is a set of bits, with one bit for each of its terms.
func (r *reader) termsOf(phrase string) (words []uint64) {
	r.analyzer.Words(phrase, func(start, end int) bool {
		var word uint64
		for _, t := range r.analyzer.PhraseTokens(phrase[start:end]) {
			if i, ok := r.numbers[t.Term]; ok {
				word |= 1 << i
			}
		}
		if word != 0 {
			words = append(words, word)
		}
		return true
	})
	return words
}

// holdsPhrase reports whether matches include every word of one phrase of the query, or the query has no phrases.
func (h *Highlighter) holdsPhrase(matches []match) bool {
	if len(h.phrases) == 0 {
		return true
	}
	var found uint64
	for _, m := range matches {
		found |= 1 << m.term
	}
	return slices.ContainsFunc(h.phrases, func(words []uint64) bool {
		return !slices.ContainsFunc(words, func(word uint64) bool { return word&found == 0 })
	})
}

// word returns the matches within a word of the text, in the order of the text. It caches these matches.
func (h *Highlighter) word(raw string) []wordMatch {
	found, ok := h.known[raw]
	if ok {
		return found
	}
	h.buffer = h.analyzer.Terms(h.buffer[:0], raw)
	for _, t := range h.buffer {
		if i, ok := h.numbers[t.Text]; ok && !t.Form { // first, because the first match of a range counts
			found = append(found, wordMatch{t.Start, t.End, i})
		}
		for i := range h.expanded {
			e := &h.expanded[i]
			if !e.matches(t) {
				continue
			}
			end := t.End
			if e.how == begin {
				end = t.Start + firstCharacter(raw[t.Start:])
			}
			found = append(found, wordMatch{t.Start, end, e.term})
		}
	}
	slices.SortStableFunc(found, func(a, b wordMatch) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	if len(h.known) == mostKnown {
		clear(h.known)
	}
	h.known[raw] = found
	return found
}

// firstCharacter returns the length of the first character in run, a text in a script without spaces. The character
// includes its Unicode marks, and the vowel am of Thai and Lao.
func firstCharacter(run string) int {
	n := norm.NFKC.NextBoundaryInString(run, true)
	for n < len(run) {
		r, size := utf8.DecodeRuneInString(run[n:])
		if !unicode.IsMark(r) && r != '\u0E33' && r != '\u0EB3' {
			break
		}
		n += size
	}
	return n
}
