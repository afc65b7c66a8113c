package analysis

import "unicode/utf8"

// keepsInitial are the languages whose stemmer only removes endings from a plain ASCII word, and
// never makes it longer.
var keepsInitial = map[string]bool{"da": true, "de": true, "en": true, "es": true, "fi": true, "fr": true, "hu": true,
	"it": true,
	"nl": true, "no": true, "pt": true, "ro": true, "ru": true, "sv": true}

// Initial returns the byte that begins each term and form of a raw word; none of them is longer
// than the word. It is a quick test for terms that the word cannot have. It is 0 when only
// [Analyzer.Terms] knows, for example for a word with inner capitals, digits, marks or letters
// other than a to z.
func (a *Analyzer) Initial(raw string) byte {
	if raw == "" || !a.initial || raw[0] >= utf8.RuneSelf || !isLetter(raw[0]) {
		return 0
	}
	for i := 1; i < len(raw); i++ {
		if raw[i] < 'a' || raw[i] > 'z' {
			return 0
		}
	}
	return raw[0] | 0x20
}
