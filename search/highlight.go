package search

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"sheaf"
	"sheaf/internal/edits"
	"sheaf/text/analysis"
)

// Highlighter finds the words of one query in texts. It is not safe for
// concurrent use.
type Highlighter struct {
	analyzer *analysis.Analyzer
	// stop, while the query is read, says that function words are left out.
	stop bool
	// rarity is that of NewHighlighter; told is what it said of each term,
	// phrase marks the terms of phrases.
	rarity func(word string) float64
	told   []float64
	phrase []bool
	// phrases are those of several words: for each word, a bit for each of its terms.
	phrases [][]uint64
	// index numbers the terms of the query; weight is what each counts: the
	// parts of one word as typed share what that word tells, and the whole of it
	// tells all.
	index  map[string]int
	weight []float64
	// begin are beginnings of terms; prefixes and fuzzy are compared with
	// terms and forms, as in the dictionary of an index.
	begin    []expandedWord
	prefixes []expandedWord
	fuzzy    []expandedWord
	// shortest is the length of the shortest of all these that begins with a
	// byte, 0 for none: most words of a text are told from them by their first
	// letter and their length. others, nil when there are beginnings, tells more by
	// the letters behind it, and of words of several parts too.
	shortest [256]uint8
	others   *analysis.Sieve
	// typed are the words as typed, for looking far ahead.
	typed []typedWord
	// full is what all words of the query tell together.
	full float64
	// compared remembers what words of texts matched that are compared with
	// those of a fuzzy query, which takes long.
	compared map[string][]wordMatch
	// met are words of the texts with what they matched, each at a place that
	// another may take: texts that one query found have many in common.
	met   [metWords]metWord
	found []wordMatch   // those of met, one after another
	room  analysis.Room // for the terms of a word
	// What is used for one text after another.
	matches []match
	shown   []match
	weights []float64
	counts  []int
	out     []byte
	spans   []sheaf.Span
}

const metWords = 128

// metWord is a word with its part of what was found.
type metWord struct {
	raw      string
	from, to int32
}

// typedWord is a word of the query and what it tells.
type typedWord struct {
	text string
	told float64
}

type expandedWord struct {
	folded   string
	distance int
	term     int
}

// wordMatch is a range inside a word of the text and the term it matches.
type wordMatch struct{ start, end, term int }

// NewHighlighter takes the words that query asks for, those that it excludes
// aside, and its function words too when it has others: "the" in every line
// shows nothing. Phrases keep theirs. a is the analyzer that the texts were
// indexed with. rarity, such as an idf, says how much a word tells; words that
// tell less than a fifth of what the best one does are not shown either. nil
// takes all words alike.
func NewHighlighter(a *analysis.Analyzer, query sheaf.TextQuery, rarity func(word string) float64) *Highlighter {
	h, ok := highlighters.Get().(*Highlighter)
	if !ok {
		h = &Highlighter{index: map[string]int{}}
	}
	h.analyzer, h.rarity, h.stop = a, rarity, true
	h.collect(query)
	h.stop = false
	if len(h.weight) == 0 {
		h.collect(query)
	}
	h.rarity = nil
	h.dropCommon()
	h.measure()
	return h
}

// highlighters are those of which only the memory is used again.
var highlighters sync.Pool

// Release ends the use of h, whose memory other queries then use. What it returned
// stays. Who does not call it leaves the memory to be collected.
func (h *Highlighter) Release() {
	clear(h.index)
	clear(h.begin[:cap(h.begin)])
	clear(h.prefixes[:cap(h.prefixes)])
	clear(h.fuzzy[:cap(h.fuzzy)])
	clear(h.typed[:cap(h.typed)])
	if cap(h.matches) > snippetKept {
		h.matches = nil
	}
	if cap(h.out) > snippetKept {
		h.out = nil
	}
	if cap(h.spans) > snippetKept {
		h.spans = nil
	}
	if cap(h.found) > snippetKept {
		h.found = nil
	}
	*h = Highlighter{index: h.index, told: h.told[:0], phrase: h.phrase[:0], phrases: h.phrases[:0], weight: h.weight[:0], begin: h.begin[:0], prefixes: h.prefixes[:0],
		fuzzy: h.fuzzy[:0], typed: h.typed[:0], found: h.found[:0], matches: h.matches[:0], shown: h.shown[:0], weights: h.weights[:0], counts: h.counts[:0], out: h.out[:0], spans: h.spans[:0]}
	highlighters.Put(h)
}

// snippetKept is the longest memory that a highlighter keeps for another query.
const snippetKept = 1 << 10

// measure notes how what is looked for begins.
func (h *Highlighter) measure() {
	note := func(text string) {
		length := uint8(min(max(len(text), 1), math.MaxUint8))
		least := func(of *uint8) {
			if *of == 0 || length < *of {
				*of = length
			}
		}
		if text != "" {
			least(&h.shortest[text[0]])
			return
		}
		for c := range h.shortest {
			least(&h.shortest[c])
		}
	}
	terms := make([]string, 0, len(h.index))
	for term := range h.index {
		note(term)
		terms = append(terms, term)
	}
	for _, list := range [...][]expandedWord{h.begin, h.prefixes} {
		for i := range list {
			note(list[i].folded)
		}
	}
	if len(h.begin)+len(h.prefixes) == 0 {
		h.others = h.analyzer.Sieve(terms)
	}
}

// dropCommon forgets terms that tell little beside others.
func (h *Highlighter) dropCommon() {
	best := 0.0
	for _, r := range h.told {
		best = max(best, r)
	}
	const least = 0.2
	for term, i := range h.index {
		if h.told[i] < least*best && !h.phrase[i] {
			delete(h.index, term)
		}
	}
	for i := range h.weight {
		if h.told[i] >= least*best || h.phrase[i] {
			h.full += h.weight[i]
		}
	}
}

// Full reports whether a snippet holds every word of the query that tells much.
func (h *Highlighter) Full(s *Snippet) bool { return s.Worth >= h.full*(1-1e-9) }

func (h *Highlighter) collect(query sheaf.TextQuery) {
	switch q := query.(type) {
	case sheaf.Match:
		h.addWords(q.Text, false)
	case sheaf.Phrase:
		h.addWords(q.Text, true)
		if words := h.termsOf(q.Text); len(words) > 1 {
			h.phrases = append(h.phrases, words)
		}
	case sheaf.Prefix:
		h.addExpanded(&h.prefixes, h.analyzer.PrefixPieces(q.Text), 0)
	case sheaf.Fuzzy:
		h.addExpanded(&h.fuzzy, h.analyzer.FuzzyPieces(q.Text), q.Distance)
	case sheaf.Boost:
		h.collect(q.Query)
	case sheaf.Bool:
		for _, part := range slices.Concat(q.Must, q.Should) {
			h.collect(part)
		}
	}
}

func (h *Highlighter) addWords(text string, phrase bool) {
	h.analyzer.Words(text, func(start, end int) bool {
		raw := text[start:end]
		if h.stop && !phrase && h.analyzer.Stops(raw) {
			return true
		}
		find := h.analyzer.QueryTokens
		if phrase {
			find = h.analyzer.PhraseTokens
		}
		tokens := find(raw)
		told := 1.0
		if h.rarity != nil {
			told = h.rarity(raw)
		}
		for _, t := range tokens {
			share := 1 / float64(len(tokens))
			if t.Start == 0 && t.End == len(raw) { // where the whole of a name stands, no part of it is a match
				share = 1
			}
			h.addTerm(t, told, share, phrase)
		}
		if len(tokens) > 0 && len(h.typed) < snippetJumpWords {
			h.typed = append(h.typed, typedWord{raw, told})
		}
		return true
	})
}

// termsOf are the words of a phrase, a bit for each of their terms.
func (h *Highlighter) termsOf(phrase string) (words []uint64) {
	h.analyzer.Words(phrase, func(start, end int) bool {
		var word uint64
		for _, t := range h.analyzer.PhraseTokens(phrase[start:end]) {
			if i, ok := h.index[t.Term]; ok {
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

// holdsPhrase reports whether every word of one of the query's phrases is among matches;
// true for a query without phrases.
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

func (h *Highlighter) addTerm(t analysis.Token, told, share float64, phrase bool) {
	if i, ok := h.index[t.Term]; ok {
		h.phrase[i] = h.phrase[i] || phrase
		return
	}
	if len(h.weight) == snippetTerms {
		return
	}
	h.index[t.Term] = len(h.weight)
	if t.Prefix {
		h.begin = append(h.begin, expandedWord{folded: t.Term, term: len(h.weight)})
	}
	h.addWeight(told, share, phrase)
}

func (h *Highlighter) addWeight(told, share float64, phrase bool) {
	h.weight = append(h.weight, told*share)
	h.told = append(h.told, told)
	h.phrase = append(h.phrase, phrase)
}

// addExpanded takes the parts of a prefix or fuzzy query, as the index reads
// them: whole words as phrases, the others to be compared.
func (h *Highlighter) addExpanded(list *[]expandedWord, pieces []analysis.Piece, distance int) {
	for _, p := range pieces {
		if p.Exact {
			h.addWords(p.Text, true)
			continue
		}
		if len(h.weight) == snippetTerms {
			return
		}
		*list = append(*list, expandedWord{folded: p.Text, distance: distance, term: len(h.weight)})
		h.addWeight(1, 1, true)
		if len(h.typed) < snippetJumpWords {
			h.typed = append(h.typed, typedWord{p.Text, 1})
		}
	}
}

// words yields the words of a text that may match.
func (h *Highlighter) words(text string, yield func(start, end int) bool) {
	if h.others != nil && len(h.fuzzy) == 0 {
		h.others.Words(text, yield)
		return
	}
	h.analyzer.Words(text, yield)
}

// word returns what a word of the text matches, in order of place.
func (h *Highlighter) word(raw string) []wordMatch {
	if len(h.fuzzy) == 0 {
		if raw == "" {
			return nil
		}
		if first := h.analyzer.Initial(raw); first != 0 && (h.shortest[first] == 0 || len(raw) < int(h.shortest[first])) {
			return nil
		}
		slot := &h.met[(int(raw[len(raw)-1])*31+int(raw[len(raw)/2])*7+len(raw))%metWords]
		if slot.raw != raw {
			if len(h.found) > snippetKept {
				clear(h.met[:])
				h.found = h.found[:0]
			}
			from := len(h.found)
			h.found = h.match(h.found, raw)
			*slot = metWord{raw, int32(from), int32(len(h.found))}
		}
		return h.found[slot.from:slot.to]
	}
	found, ok := h.compared[raw]
	if !ok {
		if h.compared == nil {
			h.compared = map[string][]wordMatch{}
		}
		found = h.match(nil, raw)
		const longest = 64
		if len(raw) <= longest {
			h.compared[strings.Clone(raw)] = found
		}
	}
	return found
}

// firstCharacter is the length of the first character of a run in a script without spaces,
// with its marks: those of Unicode, and the vowel am of Thai and Lao, which holds one.
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

// match appends what a word of the text matches, in order of place.
func (h *Highlighter) match(found []wordMatch, raw string) []wordMatch {
	from := len(found)
	for _, t := range h.analyzer.Known(raw, &h.room) {
		if i, ok := h.index[t.Text]; ok && !t.Form { // first: of one range the first counts
			found = append(found, wordMatch{t.Start, t.End, i})
		}
		for _, p := range h.prefixes {
			if strings.HasPrefix(t.Text, p.folded) {
				found = append(found, wordMatch{t.Start, t.End, p.term})
			}
		}
		for _, f := range h.fuzzy {
			if edits.Distance([]rune(t.Text), []rune(f.folded), f.distance) <= f.distance {
				found = append(found, wordMatch{t.Start, t.End, f.term})
			}
		}
		if t.Form {
			continue
		}
		for _, b := range h.begin {
			if strings.HasPrefix(t.Text, b.folded) {
				found = append(found, wordMatch{t.Start, t.Start + firstCharacter(raw[t.Start:]), b.term})
			}
		}
	}
	if len(found) > from+1 {
		slices.SortStableFunc(found[from:], func(a, b wordMatch) int {
			if a.start != b.start {
				return a.start - b.start
			}
			return b.end - a.end
		})
	}
	return found
}
