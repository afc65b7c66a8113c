package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// emoji has the characters that are always emoji. Other signs, such as © and →, are emoji before a picture selector.
var emoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x231A, 0x231B, 1}, {0x2328, 0x2328, 1}, {0x23CF, 0x23CF, 1}, {0x23E9, 0x23FA, 1}, {0x25B6, 0x25B6, 1},
		{0x25C0, 0x25C0, 1},
		{0x25FB, 0x25FE, 1}, {0x2600, 0x2767, 1}, {0x2794, 0x27BF, 1}, {0x2B05, 0x2B07, 1}, {0x2B1B, 0x2B1C, 1},
		{0x2B50, 0x2B50, 1},
		{0x2B55, 0x2B55, 1},
	},
	R32: []unicode.Range32{{0x1F000, 0x1FAFF, 1}},
}

const (
	picture   = '\uFE0F' // selects the picture of a sign
	plainSign = '\uFE0E' // selects the plain sign
	keycap    = '\u20E3' // draws a key around a digit
	zeroWidth = '\u200D' // joins emoji
)

func isRegional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF } // letters of flags
func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }
func isTag(r rune) bool      { return r >= 0xE0020 && r <= 0xE007F } // tags after flags of regions

// emojiEnd returns the end of an emoji, at most limit. r is its first character, and i is the position after r.
func emojiEnd(text string, i, limit int, r rune) int {
	next, size := utf8.DecodeRuneInString(text[i:])
	if isRegional(r) {
		if isRegional(next) {
			return i + size
		}
		return i
	}
	for i+size <= limit && size > 0 {
		switch {
		case next == picture, next == plainSign, next == keycap, isSkinTone(next), isTag(next):
			i += size
		case next == zeroWidth:
			joined, n := utf8.DecodeRuneInString(text[i+size:])
			if i+size+n > limit || classOf(joined) != classEmoji && (joined < 0x2190 || joined > 0x21FF) {
				return i
			}
			i += size + n
		default:
			return i
		}
		next, size = utf8.DecodeRuneInString(text[i:])
	}
	return i
}

// keycapEnd returns the length of the signs at the start of text that make a keycap, as in 1️⃣. The character before
// text, a digit, # or *, is on the key. Without these signs, keycapEnd returns 0.
func keycapEnd(text string) int {
	for _, behind := range [...]string{"\uFE0F\u20E3", "\u20E3"} {
		if strings.HasPrefix(text, behind) {
			return len(behind)
		}
	}
	return 0
}

func isEmoji(raw string) bool {
	r, size := utf8.DecodeRuneInString(raw)
	if r < utf8.RuneSelf {
		return (isDigit(r) || r == '#' || r == '*') && keycapEnd(raw[size:]) > 0
	}
	c := classOf(r)
	return c == classEmoji || c == classOther && strings.HasPrefix(raw[size:], string(picture))
}

// emojiTerms appends an emoji as a term without picture selectors, and as a term without skin colors. Then it appends
// each emoji that is joined in it, or the digit on a key. Every term covers the whole emoji, so that highlighting never
// cuts it.
func emojiTerms(dst []Term, raw string) []Term {
	n := len(dst)
	add := func(term string) {
		if term != "" && !slices.ContainsFunc(dst[n:], func(t Term) bool { return t.Text == term }) {
			dst = append(dst, Term{Text: term, End: len(raw), Part: len(dst) > n})
		}
	}
	whole := without(raw, func(r rune) bool { return r == picture || r == plainSign || r == zeroWidth })
	add(whole)
	if whole == "" || strings.ContainsFunc(whole, isRegional) {
		return dst
	}
	add(without(whole, isSkinTone))
	for _, r := range whole {
		if !isSkinTone(r) && !isTag(r) && r != keycap && r != '#' && r != '*' {
			add(string(r))
		}
	}
	return dst
}
