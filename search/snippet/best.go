package snippet

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"

	"sheaf"
	"sheaf/text/chunk"
)

// Best returns the snippet that shows most of the query: whole phrases before single words, then the rarest words. When
// Best compares two spans, a word that is frequent in the later span counts less. If two spans show equally much, the
// first wins. There must be at least one span. If the first ownSpans spans show a word of the query, Best does not read
// the other spans. Snippet.At is an offset in content. A text that is not of kind Markdown keeps its signs.
func (h *Highlighter) Best(content []byte, kind chunk.Kind, spans []sheaf.Span, ownSpans, width int) Snippet {
	best, cut := Snippet{At: spans[0].Start}, false
	for i, span := range spans {
		if i >= ownSpans && len(best.Matches) > 0 {
			break
		}
		if span.End > len(content) || span.Start > span.End {
			continue
		}
		f := endless
		if kind == chunk.KindMarkdown {
			f = fence{}
			line := lineWith(content, span.Start).Start
			f.read(stringOf(content[max(0, line-scanBytes):line]))
		}
		s := h.within(f, stringOf(content[span.Start:span.End]), width)
		s.At += span.Start
		s = h.underHeading(s, content)
		if cut && s.shows(s.weights) <= best.shows(s.weights)*(1+1e-9) {
			continue
		}
		if !strings.HasSuffix(s.Text, ellipsis) && goesOn(content, span.End) {
			s.Text += ellipsis
		}
		best, cut = s, true
		if s.phrase && s.worth(h.weigh(nil)) >= h.full*(1-1e-9) { // every word of the query that is rare enough
			break
		}
	}
	return best
}

// shows returns a number that is larger if a snippet shows more of the query. A snippet with text is better than an
// empty snippet. A snippet with a whole phrase is better than one with any other words.
func (s *Snippet) shows(weights []float64) float64 {
	const text, phrase = 1e-6, 1e6
	w := s.worth(weights)
	if s.Text != "" && s.Text != ellipsis {
		w += text
	}
	if len(s.Matches) > 0 && s.phrase {
		w += phrase
	}
	return w
}

// worth returns the sum of the weights of the shown terms.
func (s *Snippet) worth(weights []float64) (sum float64) {
	for i, w := range weights {
		if s.terms>>i&1 != 0 {
			sum += w
		}
	}
	return sum
}

// stringOf returns text as a string without a copy. The string is valid while the bytes do not change.
func stringOf(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// goesOn reports whether a paragraph of content continues after byte end. It is for passages, which may end in the
// middle of a paragraph.
func goesOn(content []byte, end int) bool {
	line, _, _ := bytes.Cut(content[end:], []byte("\n"))
	before, newLine := bytes.CutSuffix(bytes.TrimRight(content[:end], " \t\r"), []byte("\n"))
	blank := newLine && bytes.HasSuffix(bytes.TrimRight(before, " \t\r"), []byte("\n"))
	return len(bytes.TrimSpace(line)) > 0 && !blank && !(newLine && line[0] == '#')
}

// These are bounds of the heading row that a snippet shows before a lower row of a table. headingReach is the largest
// distance between the rows in bytes, and headingColumns the width of the heading.
const (
	headingReach   = 64 << 10
	headingColumns = 100
)

// underHeading adds a table's heading row before a snippet from a lower row, which is hard to understand alone.
func (h *Highlighter) underHeading(s Snippet, content []byte) Snippet {
	row := headingRow(content, s.At)
	if row.Len() == 0 {
		return s
	}
	heading := h.Snippet(stringOf(content[row.Start:row.End]), headingColumns)
	if heading.Text == "" || strings.Contains(s.Text, heading.Text) {
		return s
	}
	text, before := strings.TrimPrefix(s.Text, ellipsis), heading.Text+" … "
	moved := len(before) - (len(s.Text) - len(text))
	s.Text = before + text
	matches := slices.Clip(heading.Matches)
	for _, m := range s.Matches {
		matches = append(matches, sheaf.Span{Start: m.Start + moved, End: m.End + moved})
	}
	s.Matches = matches
	s.terms |= heading.terms
	return s
}

// headingRow returns the heading row above the table row that contains the byte at offset, or an empty span.
func headingRow(content []byte, offset int) sheaf.Span {
	here := lineWith(content, offset)
	for row := here; row.Start > 0 && here.Start-row.Start < headingReach; {
		text := bytes.Trim(content[row.Start:row.End], " \t\r>") // a table may be in a quote
		if bytes.IndexByte(text, '|') < 0 {
			return sheaf.Span{}
		}
		above := lineWith(content, row.Start-1)
		if row != here && chunk.DelimiterRow(stringOf(text)) {
			if bytes.IndexByte(content[above.Start:above.End], '|') < 0 {
				return sheaf.Span{}
			}
			return above
		}
		row = above
	}
	return sheaf.Span{}
}

// lineWith returns the line that contains the byte at offset, without the line ending.
func lineWith(content []byte, offset int) sheaf.Span {
	from := bytes.LastIndexByte(content[:offset], '\n') + 1
	end := bytes.IndexByte(content[offset:], '\n')
	if end < 0 {
		end = len(content) - offset
	}
	return sheaf.Span{Start: from, End: offset + end}
}
