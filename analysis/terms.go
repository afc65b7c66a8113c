package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Terms appends the terms of one raw word, in the order of their offsets, to
// dst. It is a pure function of raw, so that callers can keep its result for
// the next time the word comes.
func (a *Analyzer) Terms(dst []Term, raw string) []Term {
	switch {
	case raw == "":
		return dst
	case isDense(raw):
		return denseTerms(dst, raw)
	case raw[0] == '#':
		if len(raw) > 1 {
			dst = append(dst, Term{Text: strip(lower(raw)), End: len(raw)})
			return a.shifted(dst, raw, 1)
		}
		return dst
	}
	if last := raw[len(raw)-1]; last == '+' || last == '#' {
		return append(dst, Term{Text: lower(raw), End: len(raw)})
	}
	if isPlain(raw) {
		return a.word(dst, raw, 0, 0, len(raw))
	}
	return a.identifier(dst, raw)
}

// shifted appends the terms of raw[skip:], placed within raw.
func (a *Analyzer) shifted(dst []Term, raw string, skip int) []Term {
	n := len(dst)
	dst = a.Terms(dst, raw[skip:])
	for i := n; i < len(dst); i++ {
		dst[i].Start += skip
		dst[i].End += skip
	}
	return dst
}

// isPlain reports whether a raw word is nothing but letters without inner
// capitals, or nothing but digits: no identifier.
func isPlain(raw string) bool {
	digits, letters, inner := false, false, false
	upper := 0
	for i, r := range raw {
		switch {
		case r >= '0' && r <= '9':
			digits = true
		case r < utf8.RuneSelf && !isLetter(byte(r)):
			return false
		case r == '’':
			return false
		default:
			letters = true
			if r < utf8.RuneSelf && r < 'a' || r >= utf8.RuneSelf && unicode.IsUpper(r) {
				upper++
				inner = inner || i > 0
			}
		}
	}
	if digits && letters {
		return false
	}
	return !inner || upper == utf8.RuneCountInString(raw)
}

// word appends a single word: its stem, and its form when that differs.
func (a *Analyzer) word(dst []Term, word string, offset, start, end int) []Term {
	low := lower(word)
	if a.stops[low] {
		return dst
	}
	form := strip(low)
	if form == "" {
		return dst
	}
	term := strings.TrimSuffix(form, "'s")
	if a.stem != nil && stemmable(low) {
		if stemmed := strip(a.stem(low)); stemmed != "" {
			term = stemmed
		}
	}
	dst = append(dst, Term{Text: term, Offset: offset, Start: start, End: end})
	if term != form {
		dst = append(dst, Term{Text: form, Offset: offset, Start: start, End: end, Form: true})
	}
	return dst
}

// stemmable reports whether a word is letters only.
func stemmable(word string) bool {
	for _, r := range word {
		if r < utf8.RuneSelf && !isLetter(byte(r)) && r != '\'' {
			return false
		}
	}
	return true
}

// identifier appends the whole of a raw word that has parts, at the offset of
// the first, and then its parts.
func (a *Analyzer) identifier(dst []Term, raw string) []Term {
	var buf [16]part
	parts := split(buf[:0], raw, a.elide)
	switch len(parts) {
	case 0:
		return dst // underscores only
	case 1:
		if p := parts[0]; p.end-p.start == len(raw) {
			return a.word(dst, raw, 0, 0, len(raw))
		}
	}
	whole := strip(lower(raw))
	dst = append(dst, Term{Text: whole, End: len(raw)})
	if joined, ok := withoutMarks(whole); ok {
		dst = append(dst, Term{Text: joined, End: len(raw)})
	}
	for i, p := range parts {
		n := len(dst)
		dst = a.word(dst, raw[p.start:p.end], i, p.start, p.end)
		if len(dst) > n && dst[n].Text == whole {
			dst = append(dst[:n], dst[n+1:]...)
		}
	}
	return dst
}

// withoutMarks is 1000000 for 1,000,000 and usa for u.s.a; ok is false for
// anything else.
func withoutMarks(s string) (string, bool) {
	if strings.IndexByte(s, ',') >= 0 && strings.Trim(s, "0123456789,") == "" {
		return strings.ReplaceAll(s, ",", ""), true
	}
	if len(s) < 3 || len(s)%2 == 0 {
		return "", false
	}
	for i := 0; i < len(s); i++ {
		if i%2 == 0 && !isLetter(s[i]) || i%2 == 1 && s[i] != '.' {
			return "", false
		}
	}
	return strings.ReplaceAll(s, ".", ""), true
}

type part struct{ start, end int }

// shortestSplit is how many letters must stand before a digit for a part to end
// there: utf8 is utf and 8, but v2 and k8s stay.
const shortestSplit = 3

// split finds the parts of an identifier: between marks, where a capital follows
// a small letter, before the last capital of a run that a small letter follows,
// and where digits follow at least three letters.
func split(parts []part, raw string, elide bool) []part {
	start, letters := -1, 0
	var before rune
	end := func(at int) {
		if start >= 0 && at > start {
			parts = append(parts, part{start, at})
		}
		start, letters = -1, 0
	}
	for i, r := range raw {
		apostrophe := r == '\'' || r == '’'
		if r == '_' || r == '.' || r == '@' || r == ',' || r == '#' || apostrophe && elide {
			end(i)
			before = r
			continue
		}
		if start >= 0 {
			switch {
			case unicode.IsUpper(r) && (unicode.IsLower(before) || isDigit(before)):
				end(i)
			case unicode.IsUpper(r) && unicode.IsUpper(before) && lowerAt(raw, i+utf8.RuneLen(r)):
				end(i)
			case isDigit(r) && !isDigit(before) && letters >= shortestSplit:
				end(i)
			case isDigit(before) && unicode.IsLetter(r) && raw[start] >= '0' && raw[start] <= '9':
				// 3d and 64bit stay whole
			}
		}
		if start < 0 {
			start = i
		}
		if unicode.IsLetter(r) {
			letters++
		}
		before = r
	}
	end(len(raw))
	return parts
}

func lowerAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[min(i, len(s)):])
	return unicode.IsLower(r)
}

// denseTerms appends the overlapping pairs of characters of a run in a script
// without spaces, and its last character. A character includes its marks.
func denseTerms(dst []Term, raw string) []Term {
	text := raw
	if !norm.NFKC.IsNormalString(raw) {
		text = norm.NFKC.String(raw)
	}
	var buf [64]int
	starts := buf[:0]
	for i, r := range text {
		if i > 0 && unicode.In(r, unicode.Mn, unicode.Mc) {
			continue
		}
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	n := len(starts) - 1
	for i := range n {
		to := starts[min(i+2, n)]
		t := Term{Text: text[starts[i]:to], Offset: i, Start: starts[i], End: to}
		if len(text) != len(raw) {
			t.Start, t.End = 0, len(raw)
		}
		dst = append(dst, t)
	}
	return dst
}
