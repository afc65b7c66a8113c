package snippet

import (
	"bytes"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bestWindow returns the first and the last match of the best window of this width. Each different term adds its
// weight, and a repeated term adds a little. Neighboring matches of different terms add more.
func bestWindow(matches []match, weight []float64, width int) (first, last int) {
	counts := make([]int, len(weight))
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

// snippetStart returns the start of a sentence or line at most lead columns before offset. Without such a start, it
// returns the start of a word.
func snippetStart(text string, offset, lead int) int {
	start, word := offset, offset
	for start > 0 && lead > 0 {
		if c := text[start-1]; c > ' ' && c < utf8.RuneSelf { // true for most characters
			start--
			lead--
			continue
		}
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if r == '\n' || r == '\r' {
			return start
		}
		if unicode.IsSpace(r) {
			word = start
			before, _ := utf8.DecodeLastRuneInString(text[:start-size])
			if start < offset && strings.ContainsRune(".!?", before) {
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

// clip makes the snippet that begins at byte start of text: it cleans text until width columns are full. It maps the
// matches to the output. Snippet.At is the position of the rarest match at byte begin or later.
func (h *Highlighter) clip(f fence, text string, start, begin int, matches []match, weights []float64,
	width int) Snippet {
	c := cleaner{text: text, pos: start, matches: matches, line: line{width: width}, open: openConstructs{fence: f},
		marked: markedMatches{weights: weights, begin: begin, rarest: begin}}
	cut := strings.TrimSpace(text[max(0, start-4*width):start]) != ""
	if cut && start > 0 && text[start-1] != '\n' {
		c.line.text = append(c.line.text, ellipsis...)
	}
	c.run()
	s := Snippet{At: start, Matches: c.marked.ranges}
	out := c.line.text
	end := len(out)
	if c.pos < len(text) {
		if i := bytes.LastIndexByte(out, ' '); i > len(out)*2/3 { // show no part of a word
			end = i
		}
		if n := len(s.Matches); n > 0 {
			end = max(end, s.Matches[n-1].End)
		}
	}
	kept := bytes.TrimRight(out[:end], " ")
	rest := text[c.pos:min(len(text), c.pos+4*width)]
	if len(kept) < len(out) && c.pos < len(text) || strings.TrimSpace(rest) != "" {
		kept = append(kept, ellipsis...)
	}
	s.Text = string(kept)
	if len(s.Matches) > 0 {
		s.At, s.terms = c.marked.rarest, c.marked.terms
	}
	return s
}

// ellipsis marks where a snippet leaves out text.
const ellipsis = "…"

// Plain returns the beginning of a Markdown text as a reader sees it, about width columns wide.
func Plain(text string, width int) string {
	h := &Highlighter{}
	return h.clip(fence{}, text, skipSpace(text), 0, nil, nil, width).Text
}
