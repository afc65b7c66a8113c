package analysis

import "unicode/utf8"

// keepsInitial are the languages whose stemmer takes a plain ASCII word's endings
// only, and never makes it longer.
var keepsInitial = map[string]bool{"da": true, "de": true, "en": true, "es": true, "fi": true, "fr": true, "hu": true,
	"it": true,
	"nl": true, "no": true, "pt": true, "ro": true, "ru": true, "sv": true}

// Initial tells quickly which terms a raw word cannot have: each of its terms, and
// of their forms, begins with this byte and is no longer than the word. It is 0 when
// only [Analyzer.Terms] can tell, as of a word with capitals inside, digits, marks
// or letters other than a to z.
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
