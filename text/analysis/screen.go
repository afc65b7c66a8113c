package analysis

import (
	"slices"
	"unicode/utf8"
)

// Screen finds the raw words of a text that may have a wanted term. It excludes most words without analysis. It is safe
// for concurrent use.
type Screen struct {
	// off makes every word pass.
	off    bool
	wanted []prefixTest
	first  [256]bool // the small letters that can begin a word with a wanted term
}

// prefixTest is a fast test whether a word begins like a wanted term.
type prefixTest struct{ letters, mask uint32 }

// Screen returns a screen for words that have a term or a form that begins with one of beginnings. An empty beginning
// lets every word pass.
func (a *Analyzer) Screen(beginnings []string) *Screen {
	s := &Screen{off: a.stemmer.stem != nil && !a.stemmer.initial}
	for _, text := range beginnings {
		if !isASCII(text) { // such a term comes from a word that passes anyway
			continue
		}
		letters, n := firstLetters(text, len(text))
		// The last two letters may be of an ending that the stemmer changes: able and ability have the term abl.
		mask := ^uint32(0) << (8 * (4 - min(max(n-2, min(n, 2)), 4)))
		s.wanted = append(s.wanted, prefixTest{letters & mask, mask})
	}
	for c := byte('a'); c <= 'z'; c++ {
		letters, _ := firstLetters(string(c), 1)
		s.first[c] = s.off || slices.ContainsFunc(s.wanted, func(w prefixTest) bool {
			return (letters^w.letters)&w.mask&0xFF000000 == 0
		})
	}
	return s
}

// Words calls yield with the range of each raw word of text that may have a wanted term. It stops when yield returns
// false. A word with other characters than ASCII always may have a wanted term.
func (s *Screen) Words(text string, yield func(start, end int) bool) {
	for i := 0; ; {
		start, end := nextWord(text, s.skip(text, i))
		if start == end || s.passes(text[start:end]) && !yield(start, end) {
			return
		}
		i = end
	}
}

// skip returns the start of the first word, at or after byte i, that may have a wanted term. It skips only words of
// small ASCII letters, and returns the start of any other word. Byte i must not be inside a word.
func (s *Screen) skip(text string, i int) int {
	for {
		start := i
		for start < len(text) && text[start] < utf8.RuneSelf && ascii[text[start]] == classOther &&
			text[start] != ValueEnd[0] {
			start++
		}
		end := start
		for end < len(text) && isSmall(text[end]) {
			end++
		}
		if end < start+2 || end > start+maxWordBytes || s.first[text[start]] || start > 0 && text[start-1] == '#' ||
			end < len(text) && !endsWord(text[end:]) {
			return start
		}
		i = end
	}
}

// endsWord reports whether a letter before rest is certainly the last letter of its word.
func endsWord(rest string) bool {
	c := rest[0]
	return c == ' ' || c == '\n' || c < utf8.RuneSelf && ascii[c] == classOther && !isJoiner[c] ||
		(c == '.' || c == ',') && (len(rest) == 1 || rest[1] == ' ' || rest[1] == '\n')
}

// passes reports whether a raw word may have a wanted term.
//
// The terms of an ASCII word are the word and its parts, with other endings and perhaps without marks. A part begins
// at the first byte of the word, and never between two small letters.
func (s *Screen) passes(raw string) bool {
	if s.off || !isASCII(raw) {
		return true
	}
	for i := range len(raw) {
		c := raw[i]
		if !isLetter(c) && !isDigit(rune(c)) || i > 0 && isSmall(raw[i-1]) && isSmall(c) {
			continue
		}
		letters, _ := firstLetters(raw[i:], 4)
		for _, w := range s.wanted {
			if letters&w.mask == w.letters {
				return true
			}
		}
	}
	return false
}

func isSmall(c byte) bool { return c >= 'a' && c <= 'z' }

// firstLetters returns the first four letters and digits of an ASCII text in lower case, highest byte first. It returns
// i for y, because stemmers change one to the other. n is the number of letters and digits in text, or most if there
// are more.
func firstLetters(text string, most int) (letters uint32, n int) {
	for i := 0; i < len(text) && n < most; i++ {
		c := text[i]
		switch {
		case !isLetter(c) && !isDigit(rune(c)):
			continue
		case c|0x20 == 'y':
			c = 'i'
		case isLetter(c):
			c |= 0x20
		}
		if n < 4 {
			letters |= uint32(c) << (8 * (3 - n))
		}
		n++
	}
	return letters, n
}
