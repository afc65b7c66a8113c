package chunk

import (
	"unicode"
	"unicode/utf8"
)

func isSpace(r rune) bool { return unicode.IsSpace(r) }

// blankText reports whether a text holds nothing but white space, which is
// Unicode's White_Space. Invalid bytes are not white space.
func blankText(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c != ' ' && (c < '\t' || c > '\r') {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) {
			return false
		}
		i += size
	}
	return true
}
