package analysis

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Terms appends the terms of one raw word to dst, in the order of their offsets. The result depends only on raw, so it
// can be cached.
//
// A plain word has one term: its stem. If the folded word differs from the stem, it is added as a form ([Term.Form]).
// In some languages a word with diacritics has a second stem ([Term.Bare]). So has a word such as O'Brien or don't,
// without the apostrophe.
//
// An identifier has terms for the whole and for its parts. Terms cuts it at marks. Each part between marks has a
// position: v1.2.3 has v1, 2 and 3. The whole and 1.2.3 have the position of v1. Terms also cuts at capitals and
// digits: GitHub has git and hub, one after the other. But like the word github, the name takes only one position
// ([Term.Over]). So "git hub" matches GitHub, and "github pages" matches GitHub Pages.
//
// A word with hyphens has terms for the words between the hyphens. A name is also a term without its hyphens, so that
// Wi-Fi and wifi match. A name has a digit or two capitals (utf-8, Get-Item). A word with one letter before the hyphen
// has such a term for queries without the hyphen: email finds e-mail. If a hyphen ends a line, the joined word is also
// a term, at the first and the last part. The reason is that the hyphen may only divide a word (infor-mation) or belong
// to the word (long-term).
func (a *Analyzer) Terms(dst []Term, raw string) []Term {
	switch {
	case raw == "" || raw == ValueEnd:
		return dst
	case isLetter(raw[0]) && isPlain(raw): // as most words are
		return a.word(dst, raw, 0, 0, len(raw))
	case isDense(raw):
		dst, _ = runTerms(dst, raw, false)
		return dst
	case isEmoji(raw):
		return emojiTerms(dst, raw)
	case raw[0] == '#':
		if len(raw) > 1 {
			dst = append(dst, Term{Text: a.Fold(raw), End: len(raw)})
			return a.appendShifted(dst, raw, 1, len(raw), 0)
		}
		return dst
	case hasSymbol(raw):
		return symbolTerms(dst, raw)
	case hasHyphen(raw):
		return a.compound(dst, raw)
	case isPlain(raw):
		return a.word(dst, raw, 0, 0, len(raw))
	}
	return a.identifier(dst, raw)
}

// hasHyphen reports whether a raw word has hyphens between other characters.
func hasHyphen(raw string) bool {
	if strings.IndexByte(raw, '-') >= 0 {
		return true
	}
	return !isASCII(raw) && (strings.ContainsFunc(raw, isHyphen) || strings.IndexByte(raw, '\n') >= 0 ||
		strings.IndexByte(raw, '\r') >= 0)
}

// appendShifted appends the terms of raw[from:to]. Start and End of each term are bytes of raw. The parameter offset, a
// number of positions, is added to Offset of each term.
func (a *Analyzer) appendShifted(dst []Term, raw string, from, to, offset int) []Term {
	n := len(dst)
	dst = a.Terms(dst, raw[from:to])
	for i := n; i < len(dst); i++ {
		dst[i].Start += from
		dst[i].End += from
		dst[i].Offset += offset
	}
	return dst
}

// hasSymbol reports whether a raw word is like C++ or C#.
func hasSymbol(raw string) bool {
	return len(raw) > 1 && (raw[1] == '+' || raw[1] == '#') && isLetter(raw[0])
}

// symbolTerms appends the terms of a word like C++. "C++" has the term "c++". "C++17" has "c++17", "c++" and "17".
func symbolTerms(dst []Term, raw string) []Term {
	low := strings.ToLower(raw)
	dst = append(dst, Term{Text: low, End: len(raw)})
	if name := strings.TrimRight(low, "0123456789"); name != low {
		dst = append(dst, Term{Text: name, End: len(name)},
			Term{Text: low[len(name):], Offset: 1, Start: len(name), End: len(raw)})
	}
	return dst
}

// compound appends the terms of a word with hyphens.
func (a *Analyzer) compound(dst []Term, raw string) []Term {
	name := isName(raw)
	if _, size := utf8.DecodeRuneInString(raw); name || strings.HasPrefix(raw[size:], "-") {
		if whole := withoutHyphens(raw); !isLetters(whole) {
			dst = append(dst, Term{Text: a.Fold(whole), End: len(raw), Part: true})
		} else if t := a.cachedTerms(whole); t.term != "" {
			dst = append(dst, Term{Text: t.term, End: len(raw), Part: true, Bare: !name})
		}
	}
	offset, last := 0, 0
	broken := brokenWord{start: -1}
	for from := 0; from < len(raw); {
		to, next, cut := hyphenIn(raw, from)
		dst = a.appendShifted(dst, raw, from, to, offset)
		n := len(dst)
		for last = offset; n > 0 && dst[n-1].Start >= from; n-- {
			if !dst[n-1].Over {
				last = max(last, dst[n-1].Offset)
			}
		}
		start := from
		if cut && broken.start < 0 {
			if a.elide || isElided(raw[from:to]) { // the l' of l'infor-mation does not belong to the broken word
				for i, r := range raw[from:to] {
					if isApostrophe(r) {
						start = from + i + utf8.RuneLen(r)
					}
				}
			}
			broken = brokenWord{start: start, offset: last}
		}
		if broken.start >= 0 {
			broken.text = append(broken.text, raw[start:to]...)
			if !cut {
				dst = a.appendJoined(dst, broken, to, last)
				broken = brokenWord{start: -1}
			}
		}
		offset, from = last+1, next
	}
	return dst
}

// brokenWord is a word that hyphens split at line ends. start and offset belong to the first part; text joins all
// parts.
type brokenWord struct {
	start, offset int
	text          []byte
}

// appendJoined appends the terms of the joined word w twice, at the offsets of its first and last part. The last part
// ends before byte end and has the offset last.
func (a *Analyzer) appendJoined(dst []Term, w brokenWord, end, last int) []Term {
	text := strings.Trim(string(w.text), "_") // _infor-mation_ is emphasis
	if !isPlain(text) {
		return dst
	}
	for _, offset := range [...]int{w.offset, last} {
		n := len(dst)
		dst = a.word(dst, text, offset, w.start, end)
		for i := n; i < len(dst); i++ {
			dst[i].Part = true
		}
	}
	return dst
}

// hyphenIn finds the first hyphen in raw[from:]; a soft hyphen counts only at a line end. to is the end of the part
// before the hyphen, and next is the start of the part after it. cut reports whether a line ends between these parts.
// Without a hyphen, to and next are len(raw).
func hyphenIn(raw string, from int) (to, next int, cut bool) {
	soft := strings.ContainsAny(raw[from:], "\r\n")
	for i, r := range raw[from:] {
		if !isHyphen(r) && (r != '\u00AD' || !soft) {
			continue
		}
		to = from + i
		hyphen := to + utf8.RuneLen(r)
		next = len(raw) - len(strings.TrimLeft(raw[hyphen:], " \t\r\n>"))
		if cut = next > hyphen; cut || r != '\u00AD' {
			return to, next, cut
		}
	}
	return len(raw), len(raw), false
}

// withoutHyphens returns a name without its hyphens, so that Wi-Fi and utf-8 are also wifi and utf8. A hyphen between
// digits stays, because 3-5 is not 35.
func withoutHyphens(raw string) string {
	if strings.ContainsAny(raw, "\r\n") { // a line end divides the name
		return raw
	}
	var b strings.Builder
	var before rune
	for i, r := range raw {
		after, _ := utf8.DecodeRuneInString(raw[i+utf8.RuneLen(r):])
		if !isHyphen(r) {
			b.WriteRune(r)
		} else if unicode.IsDigit(before) && unicode.IsDigit(after) {
			b.WriteByte('-')
		}
		before = r
	}
	return b.String()
}

// isName reports whether a word with hyphens is a name, not a compound of prose.
func isName(raw string) bool {
	capitals, first := 0, true
	for _, r := range raw {
		switch {
		case isHyphen(r):
			first = true
			continue
		case r == '\n' || r == '\r':
			return false
		case unicode.IsDigit(r) || r == '_' || r == '.' || r == '@':
			return true
		case first && unicode.IsUpper(r):
			capitals++
		}
		first = false
	}
	return capitals > 1
}

// isPlain reports whether a raw word has only digits or only letters. Capitals after the first letter make the result
// false, unless all letters are capitals.
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

// word appends the terms of a word without marks: its stem, and its bare stem and form if they differ. offset, start
// and end are the fields of these terms.
func (a *Analyzer) word(dst []Term, word string, offset, start, end int) []Term {
	t := a.cachedTerms(word)
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

// wordTerms are the terms of a single word. term is its stem. bare is the stem of the word without diacritics, or "".
// form is the whole word in small letters, without diacritics. term is "" for a stop word, and if nothing is left to
// index. function says that the word is a function word.
type wordTerms struct {
	term, bare, form string
	function         bool
}

func (a *Analyzer) wordTerms(word string) (t wordTerms) {
	low := lower(word)
	if t.function = a.function[low]; t.function && a.o.StopWords {
		return t
	}
	if t.form = strip(low); t.form == "" {
		return t
	}
	t.term = strings.TrimSuffix(t.form, "'s")
	if a.stemmer.stem != nil && stemmable(low) {
		written := low
		if a.stemmer.folded {
			written = t.form
		}
		if stemmed := strip(a.stemOf(written)); stemmed != "" {
			t.term = stemmed
		}
		if written != t.form && isASCII(t.form) {
			t.bare = a.stemOf(t.form)
		}
	}
	if joined := withoutApostrophe(t.form); joined != "" && !isElided(word) {
		t.bare = a.stemOf(joined)
	}
	return t
}

// withoutApostrophe returns words such as o'brien and don't without the apostrophe, because queries often lack it. It
// returns "" for other words, such as we're, which is not were.
func withoutApostrophe(word string) string {
	before, after, _ := strings.Cut(word, "'")
	if after == "t" && strings.HasSuffix(before, "n") || len(before) == 1 && len(after) >= 3 {
		return before + after
	}
	return ""
}

// stemmable reports whether the ASCII characters of a word are all letters and apostrophes.
func stemmable(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r < utf8.RuneSelf && !isLetter(byte(r)) && r != '\'' })
}

// identifier appends the terms of an identifier: first the whole, at the offset of the first part, then the parts.
func (a *Analyzer) identifier(dst []Term, raw string) []Term {
	var buf [16]part
	parts := split(buf[:0], raw, a.elide || isElided(raw))
	switch len(parts) {
	case 0:
		return dst // only underscores
	case 1:
		if p := parts[0]; p.end-p.start == len(raw) {
			return a.word(dst, raw, 0, 0, len(raw))
		}
	}
	first := len(dst)
	dst = a.whole(dst, raw)
	if len(dst) == first {
		return dst
	}
	if joined, ok := withoutMarks(dst[first].Text); ok {
		dst = append(dst, Term{Text: joined, End: len(raw), Part: true})
	}
	if name := dst[first].Text; name[0] == 'v' && len(parts) > 1 && strings.Trim(name[1:], "0123456789.") == "" {
		_, size := utf8.DecodeRuneInString(raw)
		dst = append(dst, Term{Text: name[1:], Start: size, End: len(raw), Part: true})
	}
	add := func(p part, offset int, over bool) {
		n := len(dst)
		dst = a.word(dst, raw[p.start:p.end], offset, p.start, p.end)
		if len(dst) > n && dst[n].Text == dst[first].Text {
			dst = append(dst[:n], dst[n+1:]...)
		}
		for ; n < len(dst); n++ {
			dst[n].Part, dst[n].Over = true, over
		}
	}
	offset := -1
	for i := 0; i < len(parts); {
		end := i + 1
		for end < len(parts) && !parts[end].mark {
			end++
		}
		offset++
		// The run between two marks is also a term: ipv6 for the IPv6 of IPv6_x.
		if from, to := parts[i].start, parts[end-1].end; end-i > 1 && to-from < len(raw) && !isLetters(raw[from:to]) {
			dst = append(dst, Term{Text: strip(lower(raw[from:to])), Offset: offset, Start: from, End: to, Part: true})
		}
		for k := i; k < end; k++ {
			add(parts[k], offset+min(k-i, farthestPart), k > i)
		}
		i = end
	}
	return dst
}

// farthestPart is the largest offset of a part from the position of its name.
const farthestPart = 15

// whole appends a complete name as one term, in lower case. If the name has only letters, as in YouTube's, whole treats
// it as an ordinary word: see word.
func (a *Analyzer) whole(dst []Term, raw string) []Term {
	if isLetters(raw) && !(a.elide && strings.ContainsFunc(raw, isApostrophe)) {
		return a.word(dst, raw, 0, 0, len(raw))
	}
	return append(dst, Term{Text: strip(lower(raw)), End: len(raw)})
}

// isLetters reports whether a raw word has only letters, their marks, and apostrophes.
func isLetters(raw string) bool {
	return !strings.ContainsFunc(raw, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !isApostrophe(r)
	})
}

// isElided reports whether a raw word begins with a short Romance word and an apostrophe, as in l'homme. A text in any
// language may have such names.
func isElided(raw string) bool {
	at := strings.IndexFunc(raw, isApostrophe)
	return at > 0 && lettersAt(strings.TrimLeftFunc(raw[at:], isApostrophe)) >= 2 &&
		strings.Contains(" c d j l m n s t qu un all dall dell nell sull ", " "+strings.ToLower(raw[:at])+" ")
}

// withoutMarks removes the marks from digits (1,000,000) and abbreviations (u.s.a). It returns false for other texts.
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

// digitMarks removes the marks that group digits.
var digitMarks = strings.NewReplacer(",", "", "'", "")

// part is a part of an identifier. mark says that the part begins the identifier or follows a mark.
type part struct {
	start, end int
	mark       bool
}

// shortestSplit is the smallest number of letters in a part that ends before a digit. So "utf8" is cut, and "k8s" is
// not.
const shortestSplit = 3

// split appends the parts of an identifier. elide says that split also cuts at an apostrophe, as in l'homme. It cuts
//   - at marks such as _ and the full stop;
//   - before a capital after a small letter: get|User;
//   - before the last of several capitals if a word begins with it: HTTP|Server;
//   - before a digit after at least three letters: utf|8;
//   - after a digit before at least three letters that begin with a capital: 2|Get;
//   - after a number before a unit of at least two letters: 16|GB.
//
// So 3d, 4K and E2E stay whole.
func split(parts []part, raw string, elide bool) []part {
	start, letters := -1, 0
	var before rune
	mark := true
	end := func(at int, next bool) {
		if start >= 0 && at > start {
			parts = append(parts, part{start, at, mark})
			mark = false
		}
		mark = mark || next
		start, letters = -1, 0
	}
	for i, r := range raw {
		apostrophe := isApostrophe(r)
		if r == '_' || r == '.' || r == '@' || r == ',' || r == '#' || apostrophe && (elide || isDigit(before)) {
			end(i, true)
			before = r
			continue
		}
		if start >= 0 {
			switch {
			case unicode.IsUpper(r) && unicode.IsLower(before),
				unicode.IsUpper(r) && unicode.IsUpper(before) && wordAt(raw[i+utf8.RuneLen(r):]),
				unicode.IsUpper(r) && isDigit(before) && lettersAt(raw[i:]) >= shortestSplit,
				isDigit(r) && !isDigit(before) && letters >= shortestSplit,
				isDigit(before) && letters == 0 && isUnit(raw[i:]):
				end(i, false)
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
	end(len(raw), false)
	return parts
}

// isUnit reports whether s has only letters, at least two.
func isUnit(s string) bool {
	return len(s) >= 2 && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}

// wordAt reports whether s begins with a small letter that continues a capitalized word, unlike the v of IPv6.
func wordAt(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[size:])
	return unicode.IsLower(r) && !unicode.IsDigit(next)
}

// lettersAt returns the number of letters at the start of s, at most shortestSplit.
func lettersAt(s string) (n int) {
	for _, r := range s {
		if !unicode.IsLetter(r) || n == shortestSplit {
			break
		}
		n++
	}
	return n
}

// runTerms appends the terms of a run in a script without spaces, and counts its characters. The terms are the
// overlapping pairs, each at the position of its first character. The first and the last character are also terms. So
// every character begins a term, and a phrase can begin or end with one character ("2024年"). If query is true, runTerms
// omits these two terms, unless the run is one character. A character includes its marks.
func runTerms(dst []Term, raw string, query bool) (terms []Term, characters int) {
	text := raw
	if strings.ContainsFunc(raw, mayChange) {
		text = without(norm.NFKC.String(raw), isIgnorable)
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
	var places positionMap
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

// without returns s without the characters that drop accepts.
func without(s string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, s)
}

// positionMap maps byte positions of a text after NFKC to positions in the original text. It has the starts of the
// pieces that NFKC composes separately, in both texts, and the ends of both texts.
type positionMap []struct{ text, raw int }

func composedOf(raw string) positionMap {
	var c positionMap
	var buf []byte
	at, from := 0, 0
	for from < len(raw) {
		c = append(c, struct{ text, raw int }{at, from})
		to := from + norm.NFKC.NextBoundaryInString(raw[from:], true)
		buf = norm.NFKC.AppendString(buf[:0], raw[from:to])
		for i := 0; i < len(buf); {
			r, size := utf8.DecodeRune(buf[i:])
			if i += size; !isIgnorable(r) {
				at += size
			}
		}
		from = to
	}
	return append(c, struct{ text, raw int }{at, from})
}

// start returns the start in the original text of the piece that has byte i of the composed text.
func (c positionMap) start(i int) int {
	return c[sort.Search(len(c), func(k int) bool { return c[k].text > i })-1].raw
}

// end returns the end in the original text of the piece that has byte i-1 of the composed text.
func (c positionMap) end(i int) int {
	return c[sort.Search(len(c)-1, func(k int) bool { return c[k].text >= i })].raw
}

// mayChange reports whether NFKC may change a text that contains r. It is false for ideographs, syllables and single
// kana.
func mayChange(r rune) bool {
	return !(r >= 0x4E00 && r < 0xA000 || r >= 0xAC00 && r < 0xD7A4 || r >= 0x3041 && r < 0x3097 ||
		r >= 0x30A1 && r < 0x30FB || r == 0x30FC)
}
