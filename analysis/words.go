package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWordBytes bounds a raw word; a longer run of letters is cut, and a run in
// a script without spaces, which gives terms of its own, at maxDenseBytes.
const (
	maxWordBytes  = 255
	maxDenseBytes = 4096
)

// runeClass tells what a character does to the word around it.
type runeClass uint8

const (
	classOther runeClass = iota // separates words
	classWord                   // letters, digits, marks, underscore
	classDense                  // characters of scripts without spaces
)

// ascii is the class of each byte below 0x80.
var ascii = func() (set [256]runeClass) {
	for c := range 128 {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' {
			set[c] = classWord
		}
	}
	return set
}()

// classOf is the class of a character outside ASCII.
func classOf(r rune) runeClass {
	switch {
	case r >= 0xC0 && r < 0x2C0:
		if r == 0xD7 || r == 0xF7 {
			return classOther
		}
		return classWord
	case r >= 0x4E00 && r < 0xA000 || r >= 0xAC00 && r < 0xD7A4 || r >= 0x3041 && r < 0x3097 || r >= 0x30A1 && r < 0x30FB || r == 0x30FC:
		return classDense
	case r >= 0x400 && r < 0x482 || r >= 0x48A && r < 0x530:
		return classWord
	case r >= 0x2000 && r < 0x206F || r >= 0x3000 && r < 0x3005:
		return classOther
	case !unicode.In(r, unicode.L, unicode.N, unicode.M):
		return classOther
	case r >= 0xE00 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo):
		return classDense
	case r == 0xFF70 || r >= 0xFF9E && r <= 0xFF9F: // half-width marks of Katakana
		return classDense
	}
	return classWord
}

// isDense reports whether a raw word is a run in a script without spaces.
func isDense(raw string) bool {
	if raw == "" || raw[0] < utf8.RuneSelf {
		return false
	}
	r, _ := utf8.DecodeRuneInString(raw)
	return classOf(r) == classDense
}

// Words yields the raw words of text, in order, as half-open byte ranges, until
// yield returns false. It allocates nothing. A raw word is a run of letters,
// digits and marks, joined by underscores, by a full stop, apostrophe or at sign
// between two of them, and by a comma between digits; a '#' directly before it
// belongs to it after white space, and "++" or '#' after a single letter. Runs in
// scripts without spaces are words of their own. Bytes that are not UTF-8
// separate words.
func (a *Analyzer) Words(text string, yield func(start, end int) bool) {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf && ascii[c] == classOther {
			i++
			continue
		}
		start, dense := i, false
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			switch classOf(r) {
			case classOther:
				i += size
				continue
			case classDense:
				dense = true
			case classWord:
				if unicode.IsMark(r) { // of nothing
					i += size
					continue
				}
			}
			i += size
		}
		if dense {
			i = denseEnd(text, i, start+maxDenseBytes)
		} else {
			i = wordEnd(text, i, start+maxWordBytes)
			if start > 0 && text[start-1] == '#' && isTagStart(text, start) {
				start--
			} else if i == start+1 && i < len(text) && isLetter(text[start]) {
				i += symbolSuffix(text[i:])
			}
		}
		if !yield(start, i) {
			return
		}
	}
}

// wordEnd is where the word that goes on at byte i ends, at most at limit.
func wordEnd(text string, i, limit int) int {
	for i < len(text) && i < limit {
		c := text[i]
		if c < utf8.RuneSelf {
			if ascii[c] == classWord {
				i++
				continue
			}
			if (c == '.' || c == '\'' || c == '@' || c == ',') && joins(text, i, 1) {
				i++
				continue
			}
			return i
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if classOf(r) != classWord && !(r == '’' && joins(text, i, size)) {
			return i
		}
		i += size
	}
	if i > limit {
		i = limit
	}
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// joins reports whether the mark of size bytes at byte i stands between two
// characters of one word.
func joins(text string, i, size int) bool {
	if i == 0 || i+size >= len(text) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+size:])
	switch text[i] {
	case ',':
		return isDigit(before) && isDigit(after)
	case '.', '@':
		return inWord(before) && inWord(after)
	}
	if unicode.IsDigit(before) && unicode.IsDigit(after) {
		return true
	}
	return (unicode.IsLetter(before) || unicode.IsMark(before)) && unicode.IsLetter(after) && inWord(before) && inWord(after)
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return ascii[r] == classWord
	}
	return r != utf8.RuneError && classOf(r) == classWord
}

func isDigit(r rune) bool  { return r >= '0' && r <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func denseEnd(text string, i, limit int) int {
	for i < len(text) && i < limit && text[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(text[i:])
		if classOf(r) != classDense && !unicode.Is(unicode.Mn, r) {
			break
		}
		i += size
	}
	return i
}

// isTagStart reports whether the '#' before byte start begins a tag: nothing or
// white space stands before it, a letter after it.
func isTagStart(text string, start int) bool {
	if after, _ := utf8.DecodeRuneInString(text[start:]); !unicode.IsLetter(after) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:start-1])
	return start == 1 || unicode.IsSpace(before)
}

// symbolSuffix is the length of the "++" or '#' that follows a single letter, as
// in C++ and C#, and that no letter or digit follows.
func symbolSuffix(rest string) int {
	n := 0
	switch {
	case strings.HasPrefix(rest, "++"):
		n = 2
	case rest[0] == '#':
		n = 1
	}
	if n < len(rest) && ascii[rest[n]] == classWord {
		return 0
	}
	return n
}
