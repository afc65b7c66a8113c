// Package wording formats counts and sizes for people, quotes names for a shell, and cleans text for a terminal.
package wording

import "strings"

// ShellQuoted returns text as one word of a POSIX shell. Plain paths stay unchanged.
func ShellQuoted(text string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r))
	}
	if text != "" && strings.IndexFunc(text, special) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
