package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/text/chunk"
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
	// At is the offset, in the given text, of the rarest match in the snippet,
	// or of the snippet's beginning when the snippet has no match.
	At int
	// Worth is what the words in Matches tell together, each word once.
	Worth float64
	// Phrase says that there are matches, and among them all words of one of the query's
	// phrases when it has any.
	Phrase bool
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
	s := h.Cut(text, width)
	s.Text, s.Matches = strings.Clone(s.Text), slices.Clone(s.Matches)
	return s
}

// Cut is Snippet in memory of h: its text and matches are there until h is used again or
// released.
func (h *Highlighter) Cut(text string, width int) Snippet {
	left := chunk.WithoutPayloads(text)
	s := h.cut(left.Text, max(width, 20))
	s.At = left.At(s.At)
	return s
}

func (h *Highlighter) cut(text string, width int) Snippet {
	matches := h.find(text, width)
	if len(matches) == 0 {
		return h.clip(text, skipSpace(text), nil, width)
	}
	h.weigh(matches)
	if columns(text, 0, len(text), width) <= width {
		s := h.clip(text, skipSpace(text), matches, width)
		s.Phrase = h.holdsPhrase(matches)
		return s
	}
	first, last := h.bestWindow(matches, width)
	used := 0
	for _, m := range matches[first+1 : last+1] {
		used += m.gap
	}
	start := snippetStart(text, matches[first].start, max((width-used)/3, 10))
	s := h.clip(text, start, matches[first:], width)
	s.Phrase = h.holdsPhrase(matches[first : last+1])
	return s
}

// find returns the matches of the beginning of text. When the beginning lacks a
// word that tells more than those it has, find returns the matches around the
// first place behind that seems to hold the word.
func (h *Highlighter) find(text string, width int) []match {
	if len(h.weight) == 0 {
		return nil
	}
	matches := h.scan(text, 0, min(len(text), snippetScanBytes), width, false)
	if len(matches) == 0 && strings.IndexByte(text, '<') >= 0 { // a comment or a tag may have the word
		matches = h.scan(text, 0, min(len(text), snippetScanBytes), width, true)
	}
	if len(text) > snippetScanBytes {
		if at := h.ahead(text, matches); at >= 0 {
			matches = h.scan(text, runeStart(text, at-1024), runeStart(text, min(len(text), at+snippetJumpBytes)), width, false)
		}
	}
	h.shown = h.shown[:0]
	for _, m := range matches {
		if !inTarget(text, m.start) {
			h.shown = append(h.shown, m)
		}
	}
	if len(h.shown) == 0 || len(h.shown) == len(matches) {
		return matches
	}
	for i := 1; i < len(h.shown); i++ {
		h.shown[i].gap = columns(text, h.shown[i-1].end, h.shown[i].end, width)
	}
	return h.shown
}

// ahead is the first place behind the beginning of text that seems to hold the
// rarest word, of those that tell more than matches do; -1 without such a place.
func (h *Highlighter) ahead(text string, matches []match) int {
	most := 0.0
	for _, m := range matches {
		most = max(most, h.weight[m.term])
	}
	at := -1
	rest := text[snippetScanBytes:]
	for _, word := range h.typed {
		if word.told <= most {
			continue
		}
		behind := rest
		for _, form := range []string{word.text, strings.ToLower(word.text), strings.ToUpper(word.text), title(word.text)} {
			if i := strings.Index(behind, form); i >= 0 {
				at, behind, most = snippetScanBytes+i, behind[:i], word.told
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

// scan returns the matches of a part of text, until it is called again; those in comments and
// tags of HTML only when all is set.
func (h *Highlighter) scan(text string, from, to, width int, all bool) []match {
	matches := h.matches[:0]
	defer func() { h.matches = matches }()
	tags := !all && strings.IndexByte(text[max(0, from-markupReach):to], '<') >= 0
	h.words(text[from:to], func(start, end int) bool {
		start, end = start+from, end+from
		for _, w := range h.word(text[start:end]) {
			if tags && hidden(text, start+w.start) {
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
