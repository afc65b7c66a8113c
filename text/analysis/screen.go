package analysis

// Screen excludes most raw words of a text without analysis: words that certainly lack the wanted terms. It is safe for
// concurrent use.
type Screen struct {
	// off lets every word pass.
	off    bool
	wanted []prefixTest
}

// prefixTest compares the first letters of a word with the first letters of a wanted term.
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
	return s
}

// Passes reports whether a raw word may have a wanted term. It is always true for a word with other characters than
// ASCII.
//
// The terms of an ASCII word are the word and its parts, with other endings and perhaps without marks. A part begins
// at the first byte of the word, and never between two small letters.
func (s *Screen) Passes(raw string) bool {
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

// firstLetters returns the first four letters and digits of an ASCII text in lower case, highest byte first. It
// returns i for y, because stemmers change one to the other. The result n counts the letters and digits, up to the
// parameter most.
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
