package search

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/analysis"
	"sheaf/internal/edits"
)

// Bounds of the work that one snippet takes, however long the text.
const (
	// snippetScanBytes of the text are analyzed from its beginning.
	snippetScanBytes = 256 << 10
	// snippetJumpBytes are analyzed around the first place further on that
	// seems to hold a word, when the beginning holds none.
	snippetJumpBytes = 64 << 10
	// snippetJumpWords is how many words of the query are looked for then.
	snippetJumpWords = 4
	// snippetMatches is how many matches are weighed.
	snippetMatches = 20_000
	// snippetTerms is how many terms of a query are told apart.
	snippetTerms = 64
)

// SnippetWidth is the usual width of a snippet in columns: Chinese, Japanese
// and Korean characters take two.
const SnippetWidth = 200

// Snippet is the part of a text that shows best why it was found.
type Snippet struct {
	// Text is one line, lightly cleaned of Markdown, with "…" where it was
	// cut.
	Text string
	// Matches are the ranges of Text that match words of the query, in
	// order, not overlapping.
	Matches []sheaf.Span
	// At is the offset, in the text that was given, of the first match in
	// the snippet, or of the snippet's beginning when it has none.
	At int
}

// Highlighter finds the words of one query in texts. It is not safe for
// concurrent use.
type Highlighter struct {
	analyzer *analysis.Analyzer
	// stop, while the query is read, tells which words are function words.
	stop *analysis.Analyzer
	// rarity is that of NewHighlighter; told is what it said of each term,
	// phrase marks the terms of phrases.
	rarity func(word string) float64
	told   []float64
	phrase []bool
	// index numbers the terms of the query; weight is what each counts: the
	// terms of one word as typed share what that word tells.
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
	// the second letter.
	shortest [256]uint8
	others   *analysis.Sieve
	// typed are the words as typed, for looking far ahead.
	typed []string
	// compared remembers what words of texts matched that are compared with
	// those of a fuzzy query, which takes long.
	compared map[string][]wordMatch
	// met are words of the texts with what they matched, each at a place that
	// another may take: texts that one query found have many in common.
	met [metWords]metWord
	// What is used for one text after another.
	matches []match
	weights []float64
	counts  []int
	out     []byte
}

const metWords = 32

type metWord struct {
	raw   string
	found []wordMatch
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
	h := &Highlighter{analyzer: a, rarity: rarity, index: map[string]int{}}
	if stop, err := analysis.New(analysis.Options{Language: a.Language(), StopWords: true}); err == nil {
		h.stop = stop
	}
	h.collect(query)
	if len(h.weight) == 0 && h.stop != nil {
		h.stop = nil
		h.collect(query)
	}
	h.stop, h.rarity = nil, nil
	h.dropCommon()
	h.measure()
	return h
}

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
}

func (h *Highlighter) collect(query sheaf.TextQuery) {
	switch q := query.(type) {
	case sheaf.Match:
		h.addWords(q.Text, false)
	case sheaf.Phrase:
		h.addWords(q.Text, true)
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
	stop := h.stop
	if phrase {
		stop = nil
	}
	h.analyzer.Words(text, func(start, end int) bool {
		raw := text[start:end]
		if stop != nil && len(stop.Terms(nil, raw)) == 0 {
			return true
		}
		tokens := h.analyzer.QueryTokens(raw)
		told := 1.0
		if h.rarity != nil {
			told = h.rarity(raw)
		}
		for _, t := range tokens {
			h.addTerm(t, told, 1/float64(len(tokens)), phrase)
		}
		if len(tokens) > 0 && len(h.typed) < snippetJumpWords {
			h.typed = append(h.typed, raw)
		}
		return true
	})
}

func (h *Highlighter) addTerm(t analysis.Token, told, share float64, phrase bool) {
	if _, ok := h.index[t.Term]; ok || len(h.weight) == snippetTerms {
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
			h.typed = append(h.typed, p.Text)
		}
	}
}

// match is a range of the text that matches a term of the query.
type match struct {
	start, end, term int
	// columns from the end of the match before it to its own end; more than
	// fit into any snippet when the two are far apart.
	gap int
}

// Snippet chooses the part of text, about width columns wide, that holds most
// of the query's words, rare ones before frequent ones and close together
// before far apart; the earliest of equal parts. Without any match it is the
// beginning of the text. Frontmatter and headings are the caller's to leave
// out. The work is bounded, however long the text.
func (h *Highlighter) Snippet(text string, width int) Snippet {
	width = max(width, 20)
	matches := h.find(text, width)
	if len(matches) == 0 {
		return h.clip(text, skipSpace(text), nil, width)
	}
	if columns(text, 0, len(text), width) <= width {
		return h.clip(text, skipSpace(text), matches, width)
	}
	first, last := h.bestWindow(matches, width)
	used := 0
	for _, m := range matches[first+1 : last+1] {
		used += m.gap
	}
	start := snippetStart(text, matches[first].start, max((width-used)/3, 10))
	return h.clip(text, start, matches[first:], width)
}

// find returns the matches of the beginning of text or, when there is none,
// of the neighborhood of the first place that seems to hold one.
func (h *Highlighter) find(text string, width int) []match {
	if len(h.weight) == 0 {
		return nil
	}
	matches := h.scan(text, 0, min(len(text), snippetScanBytes), width)
	target := func(m match) bool { return inTarget(text, m.start) }
	if slices.ContainsFunc(matches, target) {
		if shown := slices.DeleteFunc(slices.Clone(matches), target); len(shown) > 0 {
			matches = shown
			for i := 1; i < len(matches); i++ {
				matches[i].gap = columns(text, matches[i-1].end, matches[i].end, width)
			}
		}
	}
	if len(matches) > 0 || len(text) <= snippetScanBytes {
		return matches
	}
	at := -1
	rest := text[snippetScanBytes:]
	for _, word := range h.typed {
		for _, form := range []string{word, strings.ToLower(word), strings.ToUpper(word), title(word)} {
			if i := strings.Index(rest, form); i >= 0 {
				at, rest = snippetScanBytes+i, rest[:i]
			}
		}
	}
	if at < 0 {
		return nil
	}
	return h.scan(text, runeStart(text, at-1024), runeStart(text, min(len(text), at+snippetJumpBytes)), width)
}

func title(word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return strings.ToUpper(word[:size]) + strings.ToLower(word[size:])
}

func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return max(i, 0)
}

// scan returns the matches of a part of text, until it is called again.
func (h *Highlighter) scan(text string, from, to, width int) []match {
	matches := h.matches[:0]
	defer func() { h.matches = matches }()
	h.analyzer.Words(text[from:to], func(start, end int) bool {
		start, end = start+from, end+from
		for _, w := range h.word(text[start:end]) {
			if hidden(text, start+w.start) {
				continue
			}
			m := match{start: start + w.start, end: start + w.end, term: w.term}
			if n := len(matches); n > 0 {
				before := &matches[n-1]
				if m.start < before.end {
					// Overlapping terms, such as the pairs of a Chinese
					// word or the parts of an identifier: one range for
					// each place, the longest.
					if m.term == before.term || m.end <= before.end {
						continue
					}
				}
				m.gap = columns(text, before.end, m.end, width)
			}
			matches = append(matches, m)
		}
		return len(matches) < snippetMatches
	})
	return matches
}

// columns measures text[from:to], at most to the first number above limit.
func columns(text string, from, to, limit int) int {
	if to-from > 4*limit {
		return limit + 1
	}
	n := 0
	for i := max(from, 0); i < to; {
		if text[i] < utf8.RuneSelf {
			n++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		n += runeColumns(r)
		i += size
	}
	return n
}

func runeColumns(r rune) int {
	if r >= 0x1100 && (r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 || r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFD) {
		return 2
	}
	return 1
}

// word returns what a word of the text matches, in order of place.
func (h *Highlighter) word(raw string) []wordMatch {
	if len(h.fuzzy) == 0 {
		if first := h.analyzer.Initial(raw); first != 0 && (h.shortest[first] == 0 || len(raw) < int(h.shortest[first])) {
			return nil
		}
		if raw == "" || h.others != nil && h.others.Others(raw) {
			return nil
		}
		slot := &h.met[(int(raw[len(raw)-1])*31+int(raw[len(raw)/2])*7+len(raw))%metWords]
		if slot.raw != raw {
			*slot = metWord{raw, h.match(nil, raw)}
		}
		return slot.found
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

// match appends what a word of the text matches, in order of place.
func (h *Highlighter) match(found []wordMatch, raw string) []wordMatch {
	for _, t := range h.analyzer.Known(raw) {
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
		if i, ok := h.index[t.Text]; ok {
			found = append(found, wordMatch{t.Start, t.End, i})
		}
		for _, b := range h.begin {
			if strings.HasPrefix(t.Text, b.folded) {
				_, size := utf8.DecodeRuneInString(raw[t.Start:])
				found = append(found, wordMatch{t.Start, t.Start + size, b.term})
			}
		}
	}
	if len(found) > 1 {
		slices.SortFunc(found, func(a, b wordMatch) int {
			if a.start != b.start {
				return a.start - b.start
			}
			return b.end - a.end
		})
	}
	return found
}

// bestWindow returns the first and the last match of the best window. Each
// term counts its weight, less when the text is full of it; a term met again
// counts a little; neighbors in the text count more.
func (h *Highlighter) bestWindow(matches []match, width int) (first, last int) {
	h.weights = append(h.weights[:0], h.weight...)
	h.counts = slices.Grow(h.counts[:0], len(h.weight))[:len(h.weight)]
	weight, counts := h.weights, h.counts
	clear(counts)
	for _, m := range matches {
		counts[m.term]++
	}
	for i, n := range counts {
		weight[i] /= 1 + math.Log(float64(max(n, 1)))
	}
	clear(counts)
	const again, adjacent, adjacentColumns = 0.1, 0.3, 2
	near := func(i int) float64 {
		a, b := matches[i-1], matches[i]
		if a.term == b.term || b.gap > b.end-b.start+adjacentColumns {
			return 0
		}
		return adjacent * min(weight[a.term], weight[b.term])
	}
	add := func(i int, sign int) (gain float64) {
		t := matches[i].term
		if sign < 0 {
			counts[t]--
		}
		switch {
		case counts[t] == 0:
			gain = weight[t]
		case counts[t] < 4:
			gain = again * weight[t]
		}
		if sign > 0 {
			counts[t]++
		}
		return gain * float64(sign)
	}
	best, score, wide := math.Inf(-1), 0.0, 0
	l := 0
	for r := range matches {
		score += add(r, +1)
		if r > l {
			score += near(r)
			wide += matches[r].gap
		}
		for l < r && wide > width-20 {
			score += add(l, -1) - near(l+1)
			l++
			wide -= matches[l].gap
		}
		if score > best+1e-9 {
			best, first, last = score, l, r
		}
	}
	return first, last
}

// snippetStart steps back from at, by at most lead columns, to the beginning
// of the sentence or line; else to that of a word.
func snippetStart(text string, at, lead int) int {
	start, word := at, at
	for start > 0 && lead > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if r == '\n' || r == '\r' {
			return start
		}
		if unicode.IsSpace(r) {
			word = start
			before, _ := utf8.DecodeLastRuneInString(text[:start-size])
			if start < at && strings.ContainsRune(".!?", before) {
				return start
			}
		} else if strings.ContainsRune("。！？", r) {
			return start
		} else if runeColumns(r) == 2 {
			word = start - size
		}
		start -= size
		lead -= runeColumns(r)
	}
	if start == 0 {
		return 0
	}
	return word
}

func skipSpace(text string) int {
	for i, r := range text {
		if !unicode.IsSpace(r) {
			return i
		}
	}
	return 0
}

// clip cleans text from start on until width columns are full, and carries
// the matches over.
func (h *Highlighter) clip(text string, start int, matches []match, width int) Snippet {
	c := cleaner{text: text, pos: start, width: width, matches: matches, out: h.out[:0]}
	cut := strings.TrimSpace(text[max(0, start-4*width):start]) != ""
	if cut && start > 0 && text[start-1] != '\n' {
		c.out = append(c.out, "…"...)
	}
	c.run()
	s := Snippet{Matches: c.ranges, At: start}
	end := len(c.out)
	if c.pos < len(text) {
		end = wordEnd(c.out)
		if n := len(s.Matches); n > 0 {
			end = max(end, s.Matches[n-1].End)
		}
	}
	kept := bytes.TrimRight(c.out[:end], " ")
	if rest := text[c.pos:min(len(text), c.pos+4*width)]; len(kept) < len(c.out) && c.pos < len(text) || strings.TrimSpace(rest) != "" {
		kept = append(kept, "…"...)
	}
	s.Text, h.out = string(kept), kept
	if len(s.Matches) > 0 {
		s.At = c.first
	}
	return s
}

// wordEnd is the end of the last whole word of out: its last space, unless
// that would drop more than a third.
func wordEnd(out []byte) int {
	if i := bytes.LastIndexByte(out, ' '); i > len(out)*2/3 {
		return i
	}
	return len(out)
}
