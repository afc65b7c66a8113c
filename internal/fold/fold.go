// Package fold makes two names equal if they differ only in case or in the Unicode composition of letters.
package fold

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Text returns s in lower case with composed letters, and with plain hyphens and spaces: see signs. Texts that differ
// only in case or composition become equal. Folding a text twice gives the same result as folding it once.
func Text(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			s = signs.Replace(s)
			// Compose first: the lower case of İ is i, but I with a separate dot becomes two letters.
			return norm.NFC.String(strings.ToLower(norm.NFC.String(s)))
		}
	}
	return strings.ToLower(s)
}

// signs replaces or removes characters that affect only line breaks or the direction of text. People copy such
// characters, which they do not see, from pages.
var signs = strings.NewReplacer("\u2011", "-", "\u00a0", " ", "\u202f", " ", "\u00ad", "", "\u200b", "", "\u2060", "",
	"\ufeff", "", "\u200e", "", "\u200f", "", "\u202a", "", "\u202b", "", "\u202c", "", "\u2066", "", "\u2067", "",
	"\u2068", "", "\u2069", "", "\ufe0f", "")

// Spellings returns s, and the spellings of s with composed and with decomposed letters, which file systems use. All
// results are distinct, and s is the first.
func Spellings(s string) []string {
	all := []string{s}
	for _, form := range [...]norm.Form{norm.NFC, norm.NFD} {
		if t := form.String(s); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}
