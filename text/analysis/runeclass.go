package analysis

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// runeClass says how a character builds or separates words.
type runeClass uint8

const (
	classOther runeClass = iota // separates words
	classWord                   // letters, digits, underscore
	classDense                  // letters of scripts without spaces
	classMark                   // belongs to the previous character
	classEmoji                  // begins an emoji
)

// ascii has the class of each ASCII character.
var ascii = func() (set [256]runeClass) {
	for c := range 128 {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' {
			set[c] = classWord
		}
	}
	return set
}()

// pages caches the classes of 256 characters each. classOf fills a page on first use: texts need few pages, and the
// tables of package unicode are slow.
var pages [utf8.MaxRune>>8 + 1]atomic.Pointer[[256]runeClass]

func classOf(r rune) runeClass {
	page := pages[r>>8].Load()
	if page == nil {
		page = new([256]runeClass)
		for i := range page {
			page[i] = lookUpClass(r&^0xFF | rune(i))
		}
		pages[r>>8].Store(page)
	}
	return page[r&0xFF]
}

// dense lists the scripts without spaces between words. It also has Hangul, because no stemmer here knows its
// particles.
var dense = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Han,
	unicode.Hiragana,
	unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi, unicode.Tai_Tham, unicode.New_Tai_Lue, unicode.Tai_Le,
	unicode.Tai_Viet}

func lookUpClass(r rune) runeClass {
	switch {
	case r < utf8.RuneSelf:
		return ascii[r]
	case unicode.Is(unicode.M, r), unicode.Is(unicode.Cf, r), r >= 0xFF9E && r <= 0xFF9F:
		return classMark // the last two are the voice marks of half-width Katakana
	case r == 'ー' || r == 'ｰ': // marks that lengthen the vowel before them
		return classDense
	case unicode.Is(unicode.Nd, r), unicode.Is(unicode.No, r):
		return classWord
	case isApostrophe(r):
		return classOther
	case !unicode.IsLetter(r) && !unicode.Is(unicode.Nl, r) && !unicode.Is(unicode.Other_Alphabetic, r):
		if unicode.Is(emoji, r) {
			return classEmoji
		}
		return classOther
	case r >= 0xE00 && unicode.In(r, dense...):
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

// inWord reports whether a character can be part of a word.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return ascii[r] == classWord
	}
	c := classOf(r)
	return r != utf8.RuneError && (c == classWord || c == classMark)
}

func isDigit(r rune) bool  { return r >= '0' && r <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
