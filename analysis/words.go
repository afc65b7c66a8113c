package analysis

import (
	"math/bits"
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

// Words yields the raw words of text, in order, as half-open byte ranges, until
// yield returns false. It allocates nothing.
//
// Raw words are the words of UAX #29 (https://unicode.org/reports/tr29/, the
// default rules) with these differences, all for the sake of identifiers:
//
//   - a full stop, hyphen or at sign between any two characters of words joins
//     them: file1.txt, Get-Item, user@host;
//   - a colon or semicolon never does: key:value is two words;
//   - "++" or '#' after a single letter belongs to it, with the digits behind
//     (C++, C#, C++17), and a '#' before a letter when white space precedes it;
//   - a run in scripts without spaces between words is one raw word, which gives
//     terms for pairs of characters;
//   - numbers such as ² and ½ are part of words.
//
// Bytes that are not UTF-8 separate words.
func (a *Analyzer) Words(text string, yield func(start, end int) bool) {
	for i := 0; ; {
		start, end := nextWord(text, i)
		if start == end || !yield(start, end) {
			return
		}
		i = end
	}
}

// nextWord is where the first raw word of text at byte i, at which none is in the middle, or
// behind it lies; it is empty when there is none.
func nextWord(text string, i int) (start, end int) {
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf && ascii[c] == classOther {
			i++
			continue
		}
		start := i
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			i += size
			switch classOf(r) {
			case classOther, classMark:
				continue
			case classDense:
				return start, denseEnd(text, i, start+maxDenseBytes)
			}
		}
		i = wordEnd(text, i, start+maxWordBytes)
		if start > 0 && text[start-1] == '#' && isTagStart(text, start) {
			start--
		} else if i == start+1 && i < len(text) && isLetter(text[start]) {
			i += symbolSuffix(text[i:])
		}
		return start, i
	}
	return i, i
}

// wordEnd is where the word that goes on at byte i ends, at most at limit.
func wordEnd(text string, i, limit int) int {
	for i < len(text) && i < limit {
		if rest := text[i:]; len(rest) >= 8 && i+8 <= limit {
			n := plainPrefix(rest)
			if i += n; n == 8 {
				continue
			}
		}
		c := text[i]
		if c < utf8.RuneSelf {
			if ascii[c] == classWord || isJoiner[c] && joins(text, i, rune(c), 1) {
				i++
				continue
			}
			return i
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		switch classOf(r) {
		case classDense:
			return i
		case classOther:
			if !joins(text, i, r, size) {
				return i
			}
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

// plainPrefix is how many of the first 8 bytes of s, which has as many, are ASCII
// characters of words before the first that is none. It looks at all of them at once: where a word
// ends cannot be predicted.
func plainPrefix(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	low := x &^ tops
	// above has the top bit of each byte that is at least first; no sum exceeds a byte.
	above := func(bytes uint64, first byte) uint64 { return bytes + ones*uint64(0x80-first) }
	small := low | ones*0x20
	letters := above(small, 'a') &^ above(small, 'z'+1)
	digits := above(low, '0') &^ above(low, '9'+1)
	underscores := above(low, '_') &^ above(low, '_'+1)
	others := ^(letters | digits | underscores) | x
	return bits.TrailingZeros64(others&tops) / 8
}

// isJoiner are the ASCII marks that can stand within a word.
var isJoiner = [256]bool{'.': true, '-': true, '@': true, '\'': true, ',': true, '"': true}

// joins reports whether the mark r of size bytes at byte i stands between two
// characters of one word.
func joins(text string, i int, r rune, size int) bool {
	if i+size >= len(text) {
		return false
	}
	after, _ := utf8.DecodeRuneInString(text[i+size:])
	if !inWord(after) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	switch r {
	case '.', '-', '@':
		return inWord(before)
	case ',':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	case '"':
		return unicode.Is(unicode.Hebrew, before) && unicode.Is(unicode.Hebrew, after)
	case '\'', '’', '‘', '＇', '․':
		return inLetters(before) && inLetters(after) || unicode.IsDigit(before) && unicode.IsDigit(after)
	case '·', '‧', '״', '\u0387', '\u055F':
		return inLetters(before) && inLetters(after)
	}
	return false
}

func inLetters(r rune) bool { return inWord(r) && r != '_' && !unicode.IsDigit(r) }

func denseEnd(text string, i, limit int) int {
	for i < len(text) && i < limit && text[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		if c := classOf(r); c != classDense && c != classMark {
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

// symbolSuffix is the length of the "++" or '#' that follows a single letter, with
// the digits behind it, as in C++, C# and C++17; 0 when a letter follows.
func symbolSuffix(rest string) int {
	n := 0
	switch {
	case strings.HasPrefix(rest, "++"):
		n = 2
	case rest[0] == '#':
		n = 1
	default:
		return 0
	}
	for n < len(rest) && n < 8 && isDigit(rune(rest[n])) {
		n++
	}
	if n < len(rest) && ascii[rest[n]] == classWord {
		return 0
	}
	return n
}
