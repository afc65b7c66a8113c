package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Screen finds the raw words of a text that may have a wanted term. It excludes most words without analysis. It is safe
// for concurrent use.
type Screen struct {
	// off makes every word pass.
	off    bool
	wanted []prefixTest
	other  []string // the wanted beginnings with other characters than ASCII
	lanes  laneTable
}

// prefixTest is a fast test whether a part of a word begins like a wanted term. The part passes if its firstLetters
// equal the field letters in the bits of mask.
type prefixTest struct{ letters, mask uint32 }

// laneTable has patterns of five bytes: the byte before a part of a word, and the part's first four bytes. Each pattern
// belongs to a lane. If byte c fits at place n of a pattern of the lane, bit lanes*n+lane of element c is 1.
type laneTable [256]uint64

const (
	laneMark  = 0 // the first lane of parts with a mark after one, two or three letters
	laneSmall = 3 // the first lane of parts that begin with a small letter
	laneRest  = 8 // the first lane of parts that begin with a capital or digit
	lanes     = 12
)

// notLetters has all bytes except letters. A part that begins with a small letter follows such a byte.
var notLetters = func() (set string) {
	for i := range 256 {
		if !isLetter(byte(i)) {
			set += string([]byte{byte(i)})
		}
	}
	return set
}()

// add adds a pattern. pattern[n] has the bytes that fit at place n, and "" stands for all bytes.
func (t *laneTable) add(lane int, pattern [5]string) {
	for n, fits := range pattern {
		bit := uint64(1) << (lanes*n + lane)
		for _, c := range []byte(fits) {
			t[c] |= bit
		}
		for c := 0; fits == "" && c < len(t); c++ {
			t[c] |= bit
		}
	}
}

// Screen returns a screen for words that have a term or a form ([Term.Form]) with one of the given beginnings. An empty
// beginning lets every word pass.
func (a *Analyzer) Screen(beginnings []string) *Screen {
	s := &Screen{off: a.stemmer.stem != nil && !a.stemmer.initial}
	for _, text := range beginnings {
		if !isASCII(text) {
			s.other = append(s.other, text)
			continue
		}
		letters, n := firstLetters(text, len(text))
		// The last two letters may be of an ending that the stemmer changes: able and ability have the term abl.
		mask := ^uint32(0) << (8 * (4 - min(max(n-2, min(n, 2)), 4)))
		s.off = s.off || mask == 0
		pattern := [5]string{notLetters}
		for n := 1; n < len(pattern); n++ {
			letter := string(rune(letters & mask >> (8 * (4 - n)) & 0xFF))
			pattern[n] = strings.Trim(strings.ReplaceAll(letter, "i", "iy"), "\x00")
			pattern[n] += strings.ToUpper(pattern[n])
		}
		for n := 2; n < len(pattern) && pattern[n] != ""; n++ {
			var marked [5]string
			copy(marked[1:n], pattern[1:])
			marked[n] = `.-@',"_+#`
			s.lanes.add(laneMark+n-2, marked)
		}
		first, number := pattern[1], len(s.wanted)
		pattern[1] = strings.ToLower(first)
		s.lanes.add(laneSmall+number%(laneRest-laneSmall), pattern)
		pattern[0], pattern[1] = "", strings.ToUpper(first)
		s.lanes.add(laneRest+number%(lanes-laneRest), pattern)
		s.wanted = append(s.wanted, prefixTest{letters & mask, mask})
	}
	return s
}

// Words calls yield with the range of each raw word of text that may have a wanted term. It stops when yield returns
// false.
func (s *Screen) Words(text string, yield func(start, end int) bool) {
	if s.off || mayCutWords(text) {
		(*Analyzer)(nil).Words(text, func(start, end int) bool {
			return !s.off && !s.passes(text[start:end]) || yield(start, end)
		})
		return
	}
	for i := 0; ; {
		at, sure := s.next(text, i)
		if at == len(text) {
			return
		}
		start, end := nextWord(text, wordBreak(text, i, at))
		for start < end && end <= at {
			start, end = nextWord(text, end)
		}
		if start > at { // no word has byte at
			end = start
		} else if (sure || s.passes(text[start:end])) && !yield(start, end) {
			return
		}
		i = end
	}
}

// mayCutWords reports whether text may have words that are cut at maxWordBytes. The rest of a cut word is a word too.
// It begins after a letter, where the method next looks for no word.
func mayCutWords(text string) bool {
	for i := 0; i+maxWordBytes < len(text); {
		last := wordBreak(text, i, i+maxWordBytes+1)
		if last == i {
			return true
		}
		i = last
	}
	return false
}

// next looks for the first word at or after byte i that may have a wanted term. The result offset is in or before this
// word, or is len(text) without such a word. If sure is true, the word that contains byte offset passes without a test.
// Byte i must not be inside a word.
func (s *Screen) next(text string, i int) (offset int, sure bool) {
	state := s.lanes[' '] & (1<<lanes - 1)
	for from := i; i < len(text)+3; i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		state = (state<<lanes | (1<<lanes - 1)) & s.lanes[c]
		if fits := state >> (4 * lanes); fits != 0 || c >= utf8.RuneSelf {
			if state>>(2*lanes) == 0 { // no pattern has begun before byte i
				return i, false
			}
			return max(from, i-3), fits>>laneSmall != 0
		}
	}
	return len(text), false
}

// wordBreak returns the last offset in i..at that is certainly not inside a word. It is i, or follows white space.
// White space after a hyphen, ">" or other white space does not count: a hyphenated word may continue there.
func wordBreak(text string, i, at int) int {
	for at > i && (text[at-1] != ' ' && text[at-1] != '\n' || strings.IndexByte("-> \t\r\n", text[max(i, at-2)]) >= 0) {
		at--
	}
	return at
}

// passes reports whether a raw word may have a wanted term.
//
// A wrong true is possible, a wrong false is not. The terms of an ASCII word are the word and its parts. A part begins
// at a letter or digit, except at a small letter after a small letter. passes compares only the first letters of each
// part, because stemming changes the ending.
func (s *Screen) passes(raw string) bool {
	if isDense(raw) { // its terms are not ASCII, and are parts of it unless NFKC changes it
		return len(s.other) > 0 && (strings.ContainsFunc(raw, mayChange) ||
			slices.ContainsFunc(s.other, func(text string) bool { return strings.Contains(raw, text) }))
	}
	if !isASCII(raw) { // Greek and Cyrillic letters never become ASCII
		return len(s.other) > 0 || strings.ContainsFunc(raw, func(r rune) bool { return r < 0x370 || r >= 0x530 })
	}
	for i := range len(raw) {
		c := raw[i]
		if !isLetter(c) && !isDigit(rune(c)) || i > 0 && isSmall(raw[i-1]) && isSmall(c) {
			continue
		}
		letters, _ := firstLetters(raw[i:], 4)
		if slices.ContainsFunc(s.wanted, func(w prefixTest) bool { return letters&w.mask == w.letters }) {
			return true
		}
	}
	return false
}

func isSmall(c byte) bool { return c >= 'a' && c <= 'z' }

// firstLetters returns the first four letters and digits of an ASCII text in lower case, highest byte first. It returns
// i for y, because stemmers change one to the other. n is the number of letters and digits in text, at most limit.
func firstLetters(text string, limit int) (letters uint32, n int) {
	for i := 0; i < len(text) && n < limit; i++ {
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
