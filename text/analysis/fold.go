package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lower returns s in NFKC and lower case. It keeps diacritics, which stemmers need.
func lower(s string) string {
	if isSettled(s) {
		return strings.ToLower(s) // returns s itself when nothing changes
	}
	return strings.ToLower(norm.NFKC.String(strings.Map(plainMark, s)))
}

// plainMark unifies apostrophes and hyphens, which have several spellings. NFKC unifies only some of them.
func plainMark(r rune) rune {
	switch {
	case isApostrophe(r):
		return '\''
	case isHyphen(r):
		return '-'
	}
	return r
}

// isApostrophe reports whether people write a character as an apostrophe. Ukrainian, Hawaiian and transliterations of
// Arabic and Russian have their own signs. An accent without a letter is often a mistaken apostrophe.
func isApostrophe(r rune) bool {
	switch r {
	case '\'', '’', '‘', '＇', '´', '′', '‛', 'ʹ', 'ʻ', 'ʼ', 'ʽ', 'ʾ', 'ʿ', 'ꞌ':
		return true
	}
	return false
}

// isSettled reports whether NFKC and Fold change nothing in s except case, as in ASCII, Russian and Hangul.
func isSettled(s string) bool {
	for _, r := range s {
		if r >= utf8.RuneSelf && !(r >= 'А' && r <= 'я' || r >= 'ぁ' && r <= 'ゖ' || r >= 'ァ' && r <= 'ヺ' ||
			r >= '一' && r <= '\u9FFF' || r >= '가' && r <= '힣') {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Fold returns text in the form of unstemmed terms: NFKC and lower case. It removes the diacritics of Latin, Greek
// and Cyrillic letters, but keeps й, which is a separate letter. It removes vowel marks of Arabic and Hebrew, and
// invisible characters such as soft hyphens. It writes digits of any script as 0 to 9, and ß as ss. It unifies
// variants of alef, yeh, kaf and teh marbuta. In other scripts marks are letters, so Fold keeps them.
func (a *Analyzer) Fold(text string) string { return strip(lower(text)) }

// strip turns a result of lower into the result of Fold.
func strip(s string) string {
	if isSettled(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	var base rune // the last character that is not a mark
	for _, r := range norm.NFD.String(s) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		case unicode.IsLetter(r): // first, since most characters are letters
			if letters, ok := variants[r]; ok {
				b.WriteString(letters)
			} else {
				b.WriteRune(r)
			}
		case isIgnorable(r):
			continue
		case unicode.Is(unicode.Mn, r):
			isShortI := r == 0x306 && (base == 'и' || base == 'И')
			if isShortI || base >= utf8.RuneSelf &&
				!unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew) {
				b.WriteRune(r)
			}
			continue
		case unicode.Is(unicode.Nd, r):
			b.WriteRune('0' + digitValue(r))
		default:
			b.WriteRune(r)
		}
		base = r
	}
	return norm.NFC.String(b.String())
}

// isIgnorable reports whether a character is invisible and changes no word, such as a soft hyphen, joiner or selector.
func isIgnorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == '\u034F'
}

// variants maps letters to the letters that replace them.
var variants = map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'ı': "i",
	'ς':   "σ",
	0x640: "",                        // tatweel
	0x649: "\u064A", 0x6CC: "\u064A", // alef maksura, Persian yeh
	0x6A9: "\u0643", 0x629: "\u0647", // Persian kaf, teh marbuta
	0x671: "\u0627", // alef wasla
}

// digitValue returns the value of a decimal digit of any script. Unicode assigns digits in runs of ten, zero first.
func digitValue(r rune) (value rune) {
	for unicode.Is(unicode.Nd, r-1) {
		r, value = r-1, value+1
	}
	return value % 10
}
