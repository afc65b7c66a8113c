package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lower returns s in NFKC and lower case, with diacritics, as stemmers need it.
func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s) // returns s itself when nothing changes
	}
	s = strings.ToLower(norm.NFKC.String(s))
	if !strings.Contains(s, punctuation) {
		return s
	}
	return marks.Replace(s)
}

// marks unifies apostrophes and hyphens, which have several spellings. NFKC unifies only some of
// them.
var marks = strings.NewReplacer("’", "'", "‘", "'", "‐", "-", "‑", "-")

// punctuation is the beginning of all of marks.
const punctuation = "\xe2\x80"

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Fold returns text in the form of unstemmed terms: NFKC and lower case. It removes the diacritics
// of Latin, Greek and Cyrillic letters, but keeps й, a separate letter. It removes vowel marks of
// Arabic and Hebrew, and invisible characters such as soft hyphens. It writes digits of any script
// as 0 to 9 and ß as ss. It unifies variants of alef, yeh, kaf and teh marbuta. Marks of other
// scripts, where they are letters, stay.
func (a *Analyzer) Fold(text string) string { return strip(lower(text)) }

// strip removes what Fold removes, from text in lower case.
func strip(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	var base rune // the last character that is not a mark
	for _, r := range norm.NFD.String(s) {
		if unicode.Is(unicode.Mn, r) && !isIgnorable(r) {
			if r == 0x306 && (base == 'и' || base == 'И') { // й
				b.WriteRune(r)
				continue
			}
			if unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew) ||
				base < utf8.RuneSelf {
				continue
			}
			b.WriteRune(r)
			continue
		}
		if r >= utf8.RuneSelf && isIgnorable(r) {
			continue
		}
		base = r
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
			continue
		}
		writeFolded(&b, r)
	}
	return norm.NFC.String(b.String())
}

// isIgnorable reports whether a character is invisible and changes no word: soft hyphens, spaces
// and joiners without width, marks of direction, variant selectors.
func isIgnorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == '\u034F'
}

func writeFolded(b *strings.Builder, r rune) {
	switch r {
	case 'ß':
		b.WriteString("ss")
	case 'æ':
		b.WriteString("ae")
	case 'œ':
		b.WriteString("oe")
	case 'ø':
		b.WriteByte('o')
	case 'đ', 'ð':
		b.WriteByte('d')
	case 'ł':
		b.WriteByte('l')
	case 'ı':
		b.WriteByte('i')
	case 'ς':
		b.WriteRune('σ')
	case 0x640: // tatweel
	case 0x649, 0x6CC: // alef maksura, Persian yeh
		b.WriteRune(0x64A)
	case 0x6A9: // Persian kaf
		b.WriteRune(0x643)
	case 0x629: // teh marbuta
		b.WriteRune(0x647)
	case 0x671: // alef wasla
		b.WriteRune(0x627)
	default:
		if unicode.Is(unicode.Nd, r) {
			r = '0' + digitValue(r)
		}
		b.WriteRune(r)
	}
}

// digitValue returns the value of a decimal digit of any script. Unicode assigns digits in runs of
// ten, zero first.
func digitValue(r rune) rune {
	for _, x := range unicode.Nd.R16 {
		if r <= rune(x.Hi) {
			return (r - rune(x.Lo)) % 10
		}
	}
	for _, x := range unicode.Nd.R32 {
		if r <= rune(x.Hi) {
			return (r - rune(x.Lo)) % 10
		}
	}
	return 0
}
