package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWordBytes is the length at which a long run of letters is cut. maxDenseBytes is the same for scripts without
// spaces.
const (
	maxWordBytes  = 255
	maxDenseBytes = 4096
)

// ValueEnd is a word without terms. Like each word it has a position. Between two values of a list there are several
// ValueEnds, so that no phrase matches across two values: see store.JoinValues.
const ValueEnd = "\x1f"

// Words yields the raw words of text, in order, as half-open byte ranges, until yield returns false.
// It allocates nothing.
//
// Raw words are the words of UAX #29 (https://unicode.org/reports/tr29/, the default rules) with
// these differences, which keep identifiers together:
//
//   - A full stop, hyphen or at sign between any two characters of words joins them: file1.txt, Get-Item, user@host.
//     So does a hyphen or soft hyphen at a line end before a small letter, even after indentation and quotes.
//   - A colon or semicolon never joins: key:value is two words.
//   - "++" or '#' after a single letter belongs to the word, with digits (C++, C#, C++17). A '#' before a letter
//     belongs to the word if white space comes before the '#'.
//   - A run in scripts without spaces between words is one raw word, with terms for pairs of characters.
//   - Numbers such as ² and ½ are part of words, and so are characters of no width.
//   - An emoji is a word, with all emoji that are joined to it. [ValueEnd] is a word without terms.
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

// nextWord returns the range of the first raw word at or after byte i, or an empty range. i must not be inside a word.
func nextWord(text string, i int) (start, end int) {
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf && ascii[c] == classOther {
			if c == ValueEnd[0] {
				return i, i + 1
			}
			i++
			continue
		}
		start := i
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			i += size
			switch classOf(r) {
			case classOther:
				if size == 1 || !strings.HasPrefix(text[i:], string(picture)) {
					continue
				}
				return start, emojiEnd(text, i, start+maxWordBytes, r)
			case classMark:
				if at := start - 1; (r == picture || r == keycap) && at >= 0 && (text[at] == '#' || text[at] == '*') {
					if n := keycapEnd(text[start:]); n > 0 {
						return at, start + n
					}
				}
				continue
			case classEmoji:
				return start, emojiEnd(text, i, start+maxWordBytes, r)
			case classDense:
				return start, denseEnd(text, i, start+maxDenseBytes)
			}
		} else if isDigit(rune(c)) && i+1 < len(text) && text[i+1] >= utf8.RuneSelf {
			if n := keycapEnd(text[i+1:]); n > 0 {
				return start, i + 1 + n
			}
		}
		i = wordEnd(text, i, start, start+maxWordBytes)
		if start > 0 && text[start-1] == '#' && isTagStart(text, start) {
			start--
		} else if i == start+1 && i < len(text) && isLetter(text[start]) {
			i += symbolSuffix(text[i:])
		}
		return start, i
	}
	return i, i
}

// wordEnd returns the end of the word that begins at byte start, at most limit. The word includes at least the bytes
// before i.
func wordEnd(text string, i, start, limit int) int {
	for end := min(len(text), limit); i < end; {
		c := text[i]
		if ascii[c] == classWord {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			if isJoiner[c] && joins(text, i, rune(c), 1) {
				i++
				continue
			}
			if c == '-' {
				if n := lineBreak(text, i, 1); n > 0 && i+n < limit {
					i += n
					continue
				}
			}
			return i
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		switch classOf(r) {
		case classDense, classEmoji:
			return i
		case classMark:
			if r == '\u00AD' {
				if n := lineBreak(text, i, size); n > 0 && i+n < limit {
					size = n
				}
			} else if at := i - 1; (r == picture || r == keycap) && at > start && isDigit(rune(text[at])) &&
				keycapEnd(text[i:]) > 0 {
				return at
			}
		case classOther:
			if joins(text, i, r, size) {
				break
			}
			n := 0
			if isHyphen(r) {
				n = lineBreak(text, i, size)
			}
			if n == 0 || i+n >= limit {
				return i
			}
			size = n
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

// isJoiner has the ASCII marks that can be inside a word.
var isJoiner = [256]bool{'.': true, '-': true, '@': true, '\'': true, ',': true, '"': true}

// joins reports whether the mark r of size bytes at byte i is between two characters of one word.
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
	case '.', '-', '@', '‐', '‑', '－':
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
	return isApostrophe(r) && inLetters(before) && inLetters(after)
}

// isHyphen reports whether a character is a hyphen that may be inside a word.
func isHyphen(r rune) bool { return r == '-' || r == '‐' || r == '‑' || r == '－' }

// longestBreak is the largest number of bytes between two parts of a word that a hyphen splits.
const longestBreak = 64

// lineBreak returns how many bytes are from a line-end hyphen to the next part of the word. These bytes are the hyphen
// of size bytes at byte i, the line end, white space and quote signs. lineBreak returns 0 unless a letter comes before,
// and a letter that continues the word comes after.
func lineBreak(text string, i, size int) int {
	rest := text[i+size : min(len(text), i+size+longestBreak)]
	line := strings.TrimLeft(rest, " \t")
	if line == "" || line[0] != '\n' && line[0] != '\r' {
		return 0
	}
	line = strings.TrimPrefix(strings.TrimPrefix(line, "\r"), "\n")
	at := len(rest) - len(strings.TrimLeft(line, " \t>"))
	after, _ := utf8.DecodeRuneInString(text[i+size+at:])
	before, n := utf8.DecodeLastRuneInString(text[:i])
	for n < i && isIgnorable(before) {
		var more int
		before, more = utf8.DecodeLastRuneInString(text[:i-n])
		n += more
	}
	if !unicode.IsLetter(before) && !unicode.IsMark(before) || !unicode.IsLetter(after) || classOf(after) != classWord ||
		unicode.IsUpper(after) && !unicode.IsUpper(before) {
		return 0
	}
	return size + at
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

// isTagStart reports whether the '#' before byte start begins a tag: white space or nothing before it, a letter after
// it.
func isTagStart(text string, start int) bool {
	if after, _ := utf8.DecodeRuneInString(text[start:]); !unicode.IsLetter(after) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:start-1])
	return start == 1 || unicode.IsSpace(before)
}

// symbolSuffix returns the length of "++" or '#' after a single letter, with digits, as in C++, C# and C++17. The
// result is 0 when a letter follows.
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
