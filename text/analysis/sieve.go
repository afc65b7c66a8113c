package analysis

import (
	"math/bits"
	"unicode/utf8"
)

// Sieve recognizes most raw words that have one term in one position and none of some wanted terms,
// without analyzing them. It serves code that searches a few terms in much text and only counts the
// other words. Make a Sieve with [Analyzer.Sieve]; it never changes and is safe for concurrent use.
//
// It relies on the English stemmer, which mostly keeps the first three letters of a word. The
// exceptions: a y becomes an i (dying is die, cry is cri), and a stem of one or two letters may get
// an e (using is use) or a y (skies is sky) as its third. Of a longer stem the stemmer changes only
// the last letter. For other stemmers a Sieve recognizes no word.
type Sieve struct {
	analyzer *Analyzer
	silent   bool
	// starts has, by first letter, the second letters of the terms as bits.
	starts [26]uint32
	// thirds has, by first letter, the third letters of words that may be terms, as bits.
	thirds [26]uint32
	// stops has, by first letter, the lengths of function words as bits.
	stops [26]uint32
	// first has the first bytes of the terms; numbered has, as bits, the letters that a digit
	// follows in some term.
	first    [256]bool
	numbered uint32
	// beginnings are the beginnings, in small letters, of words that may be one of the terms.
	beginnings []string
}

// Sieve returns a sieve for terms as [Analyzer.Terms] makes them, without forms.
func (a *Analyzer) Sieve(terms []string) *Sieve {
	s := &Sieve{analyzer: a, silent: a.stem != nil && a.o.Language != "en"}
	for _, t := range terms {
		if t != "" {
			s.first[t[0]] = true
		}
		if t == "" || !isSmall(t[0]) {
			continue // no word of plain letters becomes this term
		}
		begin := t[:1]
		if len(t) > 3 {
			begin = t[:len(t)-1]
		}
		s.beginnings = append(s.beginnings, begin)
		seconds, thirds := &s.starts[t[0]-'a'], &s.thirds[t[0]-'a']
		switch {
		case len(t) == 1:
			*seconds, *thirds = every, every
		case isDigit(rune(t[1])):
			s.numbered |= 1 << (t[0] - 'a')
		case isSmall(t[1]):
			*seconds |= mayBe(t[1])
			if len(t) == 2 || t[2] == 'e' || t[2] == 'y' {
				*thirds = every
			} else if isSmall(t[2]) {
				*thirds |= mayBe(t[2])
			}
		}
	}
	if a.o.StopWords {
		for word := range a.function {
			if isSmall(word[0]) {
				s.stops[word[0]-'a'] |= 1 << min(len(word), 31)
			}
		}
	}
	return s
}

// every has all letters, as bits.
const every = 1<<26 - 1

// mayBe returns, as bits, the letters of a word that may become the letter c of its term.
func mayBe(c byte) uint32 {
	if c == 'i' {
		return 1<<('i'-'a') | 1<<('y'-'a')
	}
	return 1 << (c - 'a')
}

func isSmall(c byte) bool { return 'a' <= c && c <= 'z' }

// Others reports whether raw surely has one term in one position, and the sieve does not want this
// term. If Others is false, only [Analyzer.Terms] can tell. It is always false unless the word has
// only small ASCII letters, perhaps with a first capital.
func (s *Sieve) Others(raw string) bool {
	if len(raw) < 2 || s.silent {
		return false
	}
	first := raw[0] | 0x20
	if !isSmall(first) || !isSmall(raw[1]) {
		return false
	}
	if s.starts[first-'a']>>(raw[1]-'a')&1 == 1 &&
		(len(raw) == 2 || !isSmall(raw[2]) || s.thirds[first-'a']>>(raw[2]-'a')&1 == 1) {
		return false
	}
	for i := 2; i < len(raw); i++ {
		if !isSmall(raw[i]) {
			return false
		}
	}
	return s.stops[first-'a']>>min(len(raw), 31)&1 == 0 || !s.analyzer.function[lower(raw)]
}

// Lacks reports whether raw surely has none of the sieve's terms, ignoring forms. If Lacks is
// false, only [Analyzer.Terms] can tell. It examines the beginning of the word, and of every part
// that may be a separate word.
func (s *Sieve) Lacks(raw string) bool {
	if s.silent || raw == "" || raw[0] == '#' || s.mayBegin(raw, 0) {
		return false
	}
	for i := 1; i < len(raw); i++ {
		c := raw[i]
		if isSmall(c) && isSmall(raw[i-1]) { // the usual case
			continue
		}
		before := raw[i-1]
		switch {
		case c >= utf8.RuneSelf:
			return false
		case !isLetter(before) && !isDigit(rune(before)): // a mark
		case isSmall(c), isDigit(rune(c)) && isDigit(rune(before)), !isLetter(c) && !isDigit(rune(c)):
			continue
		case isCapital(c) && isCapital(before) && (i+1 == len(raw) || raw[i+1] < utf8.RuneSelf && !isSmall(raw[i+1])):
			continue // for example DNA
		}
		if s.mayBegin(raw, i) {
			return false
		}
	}
	return true
}

// Words yields the raw words of text, as [Analyzer.Words] does, except those that surely lack the
// terms.
func (s *Sieve) Words(text string, yield func(start, end int) bool) {
	for i := 0; ; {
		i = s.pass(text, i)
		start, end := nextWord(text, i)
		if start == end {
			return
		}
		if i = end; !s.Lacks(text[start:end]) && !yield(start, end) {
			return
		}
	}
}

// pass skips words from byte i on that surely lack the terms, and returns the position after them.
// i must not be inside a word. It skips only usual words: small letters, with or without a first
// capital, between ASCII marks that join no words.
func (s *Sieve) pass(text string, i int) int {
	const ahead = 10 // bytes that are examined together
	for !s.silent {
		for i < len(text) && text[i] < utf8.RuneSelf && ascii[text[i]] == classOther {
			i++
		}
		if len(text)-i < ahead || !isLetter(text[i]) || i > 0 && text[i-1] == '#' || s.mayBegin(text, i) {
			return i
		}
		n := 1
		for more := 8; more == 8; n += more {
			if len(text)-i-n < ahead || n > maxWordBytes/2 {
				return i
			}
			more = smallPrefix(text[i+n:])
		}
		end := text[i+n]
		if n < 2 || end >= utf8.RuneSelf || ascii[end] != classOther || isJoiner[end] && (text[i+n+1] != ' ' || end == '-') {
			return i
		}
		i += n
	}
	return i
}

// smallPrefix returns how many of the first 8 bytes of s are small letters before another byte; s
// has at least 8 bytes.
func smallPrefix(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(
		s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	low := x &^ tops
	small := (low + ones*(0x80-'a')) &^ (low + ones*(0x80-'z'-1)) // the top bit of each byte that is a small letter
	return bits.TrailingZeros64((^small|x)&tops) / 8
}

// mayBegin reports whether a term may begin at byte i of raw, if a part begins there.
func (s *Sieve) mayBegin(raw string, i int) bool {
	c := raw[i]
	if c >= utf8.RuneSelf {
		return true
	}
	if !isLetter(c) {
		return s.first[c]
	}
	c |= 0x20
	if i+1 == len(raw) { // a single letter
		return s.starts[c-'a'] == every
	}
	second := raw[i+1]
	if isDigit(rune(second)) { // no part ends before a digit here: see shortestSplit
		return s.numbered>>(c-'a')&1 == 1
	}
	if !isLetter(second) {
		return s.first[c]
	}
	if s.starts[c-'a']>>((second|0x20)-'a')&1 == 0 {
		return false
	}
	if i+2 < len(raw) && isLetter(raw[i+2]) && s.thirds[c-'a']>>((raw[i+2]|0x20)-'a')&1 == 0 {
		return false
	}
	return s.goesOn(raw[i:])
}

// goesOn reports whether raw begins like one of the beginnings, up to its end or to a byte that is
// not an ASCII letter.
func (s *Sieve) goesOn(raw string) bool {
	for _, begin := range s.beginnings {
		n := 0
		for n < min(len(begin), len(raw)) && raw[n]|0x20 == begin[n] && isLetter(raw[n]) {
			n++
		}
		if n == len(begin) || n < len(raw) && !isLetter(raw[n]) {
			return true
		}
	}
	return false
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }
