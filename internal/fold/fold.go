// Package fold answers the question "which names are the same?": those that differ
// only in case, or in how Unicode composes a letter. It knows nothing of what is named.
package fold

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Text is s in lower case with its letters composed, so that texts which look alike but
// for their case are equal. Folding twice changes nothing.
func Text(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			s = signs.Replace(s)
			// Composed first, too: İ is i in lower case, but I and its dot are two letters.
			return norm.NFC.String(strings.ToLower(norm.NFC.String(s)))
		}
	}
	return strings.ToLower(s)
}

// signs replaces signs that only steer line breaks: non-breaking hyphens and spaces, and soft
// hyphens.
var signs = strings.NewReplacer("\u2011", "-", "\u00a0", " ", "\u00ad", "")

// Spellings are s and the ways in which file systems write it, with letters composed and
// decomposed, each once and s first.
func Spellings(s string) []string {
	all := []string{s}
	for _, form := range [...]norm.Form{norm.NFC, norm.NFD} {
		if t := form.String(s); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}
