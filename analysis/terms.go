package analysis

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Terms appends the terms of one raw word, in the order of their offsets, to
// dst. It is a pure function of raw, so that callers can keep its result for
// the next time the word comes.
//
// A plain word is one term, and a form when the stem differs from the folded
// word; in some languages a word with diacritics is a second term ([Term.Bare]). An identifier is its whole and its parts: the whole stands where the first
// part does, the parts one after another, so that the phrase "get user name" is
// found in getUserName, and getUserName as a phrase asks for the whole. A word
// with hyphens is the words between them; its whole is kept as well when it looks
// like a name: when it has a digit or two words with capitals (Get-Item, utf-8).
func (a *Analyzer) Terms(dst []Term, raw string) []Term {
	switch {
	case raw == "":
		return dst
	case isDense(raw):
		dst, _ = runTerms(dst, raw, false)
		return dst
	case raw[0] == '#':
		if len(raw) > 1 {
			dst = append(dst, Term{Text: a.Fold(raw), End: len(raw)})
			return a.shifted(dst, raw, 1, len(raw), 0)
		}
		return dst
	case hasSymbol(raw):
		return symbolTerms(dst, raw)
	case strings.IndexByte(raw, '-') >= 0:
		return a.compound(dst, raw)
	case isPlain(raw):
		return a.word(dst, raw, 0, 0, len(raw))
	}
	return a.identifier(dst, raw)
}

// shifted appends the terms of raw[from:to], placed within raw and offset
// positions later.
func (a *Analyzer) shifted(dst []Term, raw string, from, to, offset int) []Term {
	n := len(dst)
	dst = a.Terms(dst, raw[from:to])
	for i := n; i < len(dst); i++ {
		dst[i].Start += from
		dst[i].End += from
		dst[i].Offset += offset
	}
	return dst
}

// hasSymbol reports whether a raw word is C++, C# or the like.
func hasSymbol(raw string) bool {
	return len(raw) > 1 && (raw[1] == '+' || raw[1] == '#') && isLetter(raw[0])
}

// symbolTerms are c++ for C++, and c++17, c++ and 17 for C++17.
func symbolTerms(dst []Term, raw string) []Term {
	low := strings.ToLower(raw)
	dst = append(dst, Term{Text: low, End: len(raw)})
	if name := strings.TrimRight(low, "0123456789"); name != low {
		dst = append(dst, Term{Text: name, End: len(name)}, Term{Text: low[len(name):], Offset: 1, Start: len(name), End: len(raw)})
	}
	return dst
}

// compound appends the terms of a word with hyphens.
func (a *Analyzer) compound(dst []Term, raw string) []Term {
	if isName(raw) {
		dst = append(dst, Term{Text: a.Fold(raw), End: len(raw)})
	}
	offset := 0
	for from := 0; from < len(raw); {
		to := len(raw)
		if n := strings.IndexByte(raw[from:], '-'); n >= 0 {
			to = from + n
		}
		n := len(dst)
		dst = a.shifted(dst, raw, from, to, offset)
		next := offset + 1
		for _, t := range dst[n:] {
			next = max(next, t.Offset+1)
		}
		offset, from = next, to+1
	}
	return dst
}

// isName reports whether a word with hyphens is more than a compound of prose.
func isName(raw string) bool {
	capitals, first := 0, true
	for _, r := range raw {
		switch {
		case r == '-':
			first = true
			continue
		case unicode.IsDigit(r) || r == '_' || r == '.' || r == '@':
			return true
		case first && unicode.IsUpper(r):
			capitals++
		}
		first = false
	}
	return capitals > 1
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
		case r >= utf8.RuneSelf && classOf(r) == classOther:
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

// word appends a single word: its stem, the stem that it has without diacritics
// and its form, when these differ from it.
func (a *Analyzer) word(dst []Term, word string, offset, start, end int) []Term {
	var t wordTerms
	if a.words != nil {
		t = a.words.terms(a, word)
	} else {
		t = a.wordTerms(word)
	}
	if t.term == "" {
		return dst
	}
	dst = append(dst, Term{Text: t.term, Offset: offset, Start: start, End: end})
	if t.bare != "" && t.bare != t.term {
		dst = append(dst, Term{Text: t.bare, Offset: offset, Start: start, End: end, Bare: true})
	}
	if t.form != t.term && t.form != t.bare {
		dst = append(dst, Term{Text: t.form, Offset: offset, Start: start, End: end, Form: true})
	}
	return dst
}

// wordTerms are the terms of a single word: its stem, the one without diacritics, if
// it may differ, and its form. term is empty when it has none.
type wordTerms struct{ term, bare, form string }

func (a *Analyzer) wordTerms(word string) (t wordTerms) {
	low := lower(word)
	if a.o.StopWords && a.function[low] {
		return t
	}
	if t.form = strip(low); t.form == "" {
		return t
	}
	t.term = strings.TrimSuffix(t.form, "'s")
	if a.stem != nil && stemmable(low) {
		written := low
		if a.folded {
			written = t.form
		}
		if stemmed := strip(a.stem(written)); stemmed != "" {
			t.term = stemmed
		}
		if written != t.form && isASCII(t.form) {
			t.bare = a.stem(t.form)
		}
	}
	return t
}

// stemmable reports whether a word has no ASCII character but letters and
// apostrophes.
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
	if n := len(dst); isLetters(raw) {
		// As it is typed without its capitals.
		if dst = a.word(dst, raw, 0, 0, len(raw)); len(dst) > n {
			whole = dst[n].Text
		}
	} else {
		dst = append(dst, Term{Text: whole, End: len(raw)})
	}
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

// isLetters reports whether a raw word has letters and their marks only, so that
// capitals alone tell the words of a name apart.
func isLetters(raw string) bool {
	for _, r := range raw {
		if r < utf8.RuneSelf && !isLetter(byte(r)) || r >= utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return false
		}
	}
	return true
}

// withoutMarks is 1000000 for 1,000,000 and usa for u.s.a; ok is false for
// anything else.
func withoutMarks(s string) (string, bool) {
	if strings.ContainsAny(s, ",'") && strings.Trim(s, "0123456789,'") == "" {
		digits := digitMarks.Replace(s)
		return digits, digits != ""
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

// digitMarks are what digits are grouped by.
var digitMarks = strings.NewReplacer(",", "", "'", "")

type part struct{ start, end int }

// shortestSplit is how many letters must stand before a digit for a part to end
// there: utf8 is utf and 8, but v2 and k8s stay.
const shortestSplit = 3

// split finds the parts of an identifier: between marks, where a capital follows
// a small letter, before the last capital of a run that a small letter follows,
// and where digits follow at least three letters; 3d and 64bit stay whole.
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
		if r == '_' || r == '.' || r == '@' || r == ',' || r == '#' || apostrophe && (elide || isDigit(before)) {
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

// runTerms appends the terms of a run in a script without spaces, and counts its
// characters: the overlapping pairs of them, each at the place of its first. The
// first and the last character are terms by themselves as well: so every character
// begins a term, and a phrase that ends or begins with a single character
// ("2024年") finds it beside other words. A query leaves these out, unless the run
// is one character. A character includes its marks.
func runTerms(dst []Term, raw string, query bool) (terms []Term, characters int) {
	text := raw
	if strings.ContainsFunc(raw, mayChange) && !norm.NFKC.IsNormalString(raw) {
		text = norm.NFKC.String(raw)
	}
	var buf [64]int
	starts := buf[:0]
	for i, r := range text {
		if i == 0 || classOf(r) != classMark {
			starts = append(starts, i)
		}
	}
	n := len(starts)
	starts = append(starts, len(text))
	var places composed
	if text != raw {
		places = composedOf(raw)
	}
	add := func(from, to int) {
		t := Term{Text: text[starts[from]:starts[to]], Offset: from, Start: starts[from], End: starts[to]}
		if places != nil {
			t.Start, t.End = places.start(t.Start), places.end(t.End)
		}
		dst = append(dst, t)
	}
	if n == 1 || !query {
		add(0, 1)
	}
	for i := range n - 1 {
		add(i, i+2)
	}
	if n > 1 && !query {
		add(n-1, n)
	}
	return dst, n
}

// composed tells where the pieces of a text that NFKC composes by themselves begin in the
// composed text and in the text as it is written, and where both end.
type composed []struct{ text, raw int }

func composedOf(raw string) composed {
	var c composed
	var buf []byte
	at, from := 0, 0
	for from < len(raw) {
		c = append(c, struct{ text, raw int }{at, from})
		to := from + norm.NFKC.NextBoundaryInString(raw[from:], true)
		buf = norm.NFKC.AppendString(buf[:0], raw[from:to])
		at, from = at+len(buf), to
	}
	return append(c, struct{ text, raw int }{at, from})
}

// start is where the piece that holds byte i of the composed text begins as it is written.
func (c composed) start(i int) int {
	return c[sort.Search(len(c), func(k int) bool { return c[k].text > i })-1].raw
}

// end is where the last piece before byte i of the composed text ends as it is written.
func (c composed) end(i int) int {
	return c[sort.Search(len(c)-1, func(k int) bool { return c[k].text >= i })].raw
}

// mayChange reports whether NFKC may change text with r: not with ideographs,
// syllables and kana that stand by themselves.
func mayChange(r rune) bool {
	return !(r >= 0x4E00 && r < 0xA000 || r >= 0xAC00 && r < 0xD7A4 || r >= 0x3041 && r < 0x3097 || r >= 0x30A1 && r < 0x30FB || r == 0x30FC)
}
