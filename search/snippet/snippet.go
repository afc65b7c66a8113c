package snippet

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/text/chunk"
)

// These are bounds of the work for one snippet, for texts of any length.
const (
	// scanBytes is the largest number of bytes at the beginning of a text that are analyzed.
	scanBytes = 256 << 10
	// jumpBytes is the largest number of bytes that are analyzed from a place after scanBytes: see laterPlace.
	jumpBytes = 64 << 10
	// jumpWords is the largest number of words of the query that are searched in the later parts of a text.
	jumpWords = 4
	// mostMatches is the largest number of matches in a text that are compared. Later matches are ignored.
	mostMatches = 20_000
	// mostTerms is the largest number of different terms of a query that are marked. Further terms are ignored.
	mostTerms = 64
	// longestHeading is the largest number of bytes in a table's heading row and the row below. If these rows are longer,
	// the heading row counts as any other row.
	longestHeading = 4 << 10
	// leastWidth is the smallest width of a snippet in columns. A smaller wanted width counts as leastWidth.
	leastWidth = 20
)

// Width is the usual width of a snippet in columns. Chinese, Japanese and Korean characters take two columns.
const Width = 200

// Snippet is the part of a text that best shows why it was found.
type Snippet struct {
	// Text is one line, lightly cleaned of Markdown, with "…" where text was cut off.
	Text string
	// Matches are the ranges of Text that match words of the query. They are in order and do not overlap.
	Matches []sheaf.Span
	// At is the offset in the whole text of the rarest match in the snippet. If the snippet has no match, At is the offset
	// of the snippet.
	At int
	// terms is the set of the query's terms that Matches match, with one bit for each term.
	terms uint64
	// weights has the weight of each of the query's terms in the whole text: see weigh.
	weights []float64
	// phrase says that the matches include all words of a phrase of the query. If the query has no phrases, phrase is true
	// if there are matches.
	phrase bool
}

// match is a range of the text that matches a term of the query.
type match struct {
	start, end, term int
	// gap is the distance in columns from the end of the previous match to the end of this match. If the two matches
	// are far apart, gap is larger than any snippet.
	gap int
}

// Snippet returns the part of text, about width columns wide, that has most of the query's words. Rare words count more
// than frequent words, and words close together more than words far apart. If two parts are equally good, the first
// wins. Without a match, Snippet returns the start of the text. The caller removes frontmatter and headings. The work
// is limited for texts of any length.
func (h *Highlighter) Snippet(text string, width int) Snippet { return h.within(fence{}, text, width) }

// within returns the snippet of a text that begins in this state of fenced code.
func (h *Highlighter) within(f fence, text string, width int) Snippet {
	left := chunk.WithoutPayloads(text)
	s := h.cut(f, left.Text, max(width, leastWidth))
	s.At = left.At(s.At)
	return s
}

func (h *Highlighter) cut(f fence, text string, width int) Snippet {
	matches := h.find(text, width)
	weights := h.weigh(matches)
	if len(matches) == 0 {
		s := h.clip(f, text, skipSpace(text), 0, nil, nil, width)
		s.weights = weights
		return s
	}
	start, begin, shown := skipSpace(text), matches[0].start, matches
	if columns(text, 0, len(text), width) > width {
		rows := matches
		if strings.IndexByte(text, '|') >= 0 {
			below := outside(text, matches, width, func(offset int) int { return headingRowEnd(text, offset) })
			if len(below) > 0 {
				rows = below
			}
		}
		first, last := bestWindow(rows, weights, width)
		used := 0
		for _, m := range rows[first+1 : last+1] {
			used += m.gap
		}
		begin = rows[first].start
		start, shown = snippetStart(text, begin, max((width-used)/3, 10)), rows[first:last+1]
		m := newMarkup(text, start, begin+1)
		for end := m.endAt(start, false); start < end && end <= begin; end = m.endAt(start, false) {
			start = end // show no second half of a link or tag
		}
	}
	s := h.clip(f, text, start, begin, matches, weights, width)
	s.phrase, s.weights = h.holdsPhrase(shown), weights
	return s
}

// weigh returns the weight of each term. A term with many matches in the text weighs less than a term with few matches.
func (h *Highlighter) weigh(matches []match) []float64 {
	weights, counts := make([]float64, len(h.terms)), make([]int, len(h.terms))
	for _, m := range matches {
		counts[m.term]++
	}
	for i, n := range counts {
		weights[i] = h.terms[i].weight / (1 + math.Log(float64(max(n, 1))))
	}
	return weights
}

// find returns the matches in the first scanBytes of text. If a rarer word seems to be after these bytes, find returns
// the matches around that word instead.
func (h *Highlighter) find(text string, width int) []match {
	if len(h.terms) == 0 {
		return nil
	}
	matches := h.scan(text, 0, min(len(text), scanBytes), width)
	if len(text) > scanBytes {
		if at := h.laterPlace(text, matches); at >= 0 {
			matches = h.scan(text, runeStart(text, at-1024), runeStart(text, min(len(text), at+jumpBytes)), width)
		}
	}
	return inSight(text, matches, width)
}

// inSight returns the matches in text that readers see. If readers see no match, it returns the matches outside HTML
// tags and comments. If all matches are inside tags and comments, it returns all matches.
func inSight(text string, matches []match, width int) []match {
	if len(matches) == 0 {
		return nil
	}
	for _, tagsOnly := range []bool{false, true} {
		m := newMarkup(text, matches[0].start, matches[len(matches)-1].end)
		shown := outside(text, matches, width, func(offset int) int { return m.endAt(offset, tagsOnly) })
		if len(shown) > 0 {
			return shown
		}
	}
	return matches
}

// outside returns the matches that do not begin in a hidden part of text. endOf returns the end of the hidden part that
// contains an offset, or 0. width is the width of the snippet.
func outside(text string, matches []match, width int, endOf func(offset int) int) []match {
	inside := func(m match) bool { return endOf(m.start) != 0 }
	first := slices.IndexFunc(matches, inside)
	if first < 0 {
		return matches
	}
	out := slices.Clone(matches[:first])
	for i, m := range matches[first+1:] {
		if inside(m) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].end != matches[first+i].end { // outside drops the match before m
			m.gap = columns(text, out[n-1].end, m.end, width)
		}
		out = append(out, m)
	}
	return out
}

// headingRowEnd returns the end of the heading row of a table if the row contains the offset. Otherwise it returns 0.
func headingRowEnd(text string, offset int) int {
	_, below, _ := strings.Cut(text[offset:min(len(text), offset+longestHeading)], "\n")
	row, _, _ := strings.Cut(below, "\n")
	if !strings.Contains(row, "|") || !chunk.DelimiterRow(strings.Trim(row, " \t\r>")) {
		return 0
	}
	return offset + strings.IndexByte(text[offset:], '\n')
}

// laterPlace returns where the rarest word of the query seems to be after the first scanBytes of text. It looks only
// for words that are rarer than those in matches. If it finds none, it returns -1.
func (h *Highlighter) laterPlace(text string, matches []match) int {
	most := 0.0
	for _, m := range matches {
		most = max(most, h.terms[m.term].weight)
	}
	at := -1
	rest := text[scanBytes:]
	for _, word := range h.typed {
		if word.rarity <= most {
			continue
		}
		behind := rest
		for _, form := range []string{word.text, strings.ToLower(word.text), strings.ToUpper(word.text), title(word.text)} {
			if i := strings.Index(behind, form); i >= 0 {
				at, behind, most = scanBytes+i, behind[:i], word.rarity
			}
		}
	}
	return at
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

// scan returns the matches in text[from:to]. width is the width of the snippet. scan first searches the text that
// readers of Markdown see. Without a match there, scan searches the text itself, because the text may not be
// Markdown. In such a text, "**" or an entity may be next to a word.
func (h *Highlighter) scan(text string, from, to, width int) []match {
	read := chunk.AsRead(text[from:to])
	matches := h.scanRead(text, from, read, width)
	if len(matches) == 0 && read.Text != text[from:to] {
		return h.scanRead(text, from, chunk.Left{Text: text[from:to]}, width)
	}
	return matches
}

// scanRead returns the matches in read.Text, with offsets in text. The parameter read was made from text, beginning at
// byte from.
func (h *Highlighter) scanRead(text string, from int, read chunk.Left, width int) []match {
	matches := h.matches[:0]
	h.screen.Words(read.Text, func(start, end int) bool {
		for _, w := range h.word(read.Text[start:end]) {
			m := match{start: from + read.At(start+w.start), end: from + read.At(start+w.end-1) + 1, term: w.term}
			if n := len(matches); n > 0 {
				before := &matches[n-1]
				if m.start < before.end {
					// Terms may overlap, like the pairs of a Chinese word or the parts of an
					// identifier. Keep the longest range at each place.
					if m.term == before.term || m.end <= before.end {
						continue
					}
				}
				m.gap = columns(text, before.end, m.end, width)
			}
			matches = append(matches, m)
		}
		return len(matches) < mostMatches
	})
	h.matches = matches
	return matches
}

// columns returns the width of text[from:to] in columns. For a width above limit, it returns a number above limit.
func columns(text string, from, to, limit int) int {
	if to-from > 4*limit {
		return limit + 1
	}
	n := 0
	for i := max(from, 0); i < to && n <= limit; {
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
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 ||
		r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFD) {
		return 2
	}
	return 1
}
