// Package suggest finds the known name that a user probably meant.
package suggest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf/internal/edits"
)

// Nearest returns the known name with the fewest edits from name, ignoring case. Of several, it returns the first. The
// limit is one edit for each three characters of name, but at least one. From four characters on, it is at least two. A
// known name that starts with name, of three or more characters, counts as one edit. So does a known name of four or
// more characters, if name starts with it and a letter follows. If every known name is above the limit, Nearest returns
// "".
func Nearest(name string, known []string) string {
	length := utf8.RuneCountInString(name)
	limit := max(length/3, 1)
	if length >= 4 {
		limit = max(limit, 2)
	}
	return nearest(name, known, limit)
}

// NearestValue does what [Nearest] does, but is stricter, because a value may be any word. It returns only a value with
// the same first letter as name. The limit is one edit for each four characters of name, but at least one.
func NearestValue(name string, known []string) string {
	first, _ := utf8.DecodeRuneInString(strings.ToLower(name))
	var alike []string
	for _, k := range known {
		if r, _ := utf8.DecodeRuneInString(strings.ToLower(k)); r == first {
			alike = append(alike, k)
		}
	}
	return nearest(name, alike, max(utf8.RuneCountInString(name)/4, 1))
}

// nearest returns the first known name with the fewest edits, at most limit, or "". For the beginnings of names, see
// Nearest.
func nearest(name string, known []string, limit int) string {
	lower := strings.ToLower(name)
	length := utf8.RuneCountInString(lower)
	if length == 0 {
		return ""
	}
	best, bestDistance := "", limit+1
	letters := []rune(lower)
	for _, k := range known {
		low := strings.ToLower(k)
		d := edits.Distance(letters, []rune(low), limit)
		rest, begins := strings.CutPrefix(lower, low)
		next, _ := utf8.DecodeRuneInString(rest)
		if length >= 3 && strings.HasPrefix(low, lower) || begins && len(low) >= 4 && unicode.IsLetter(next) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}
