// Package suggest finds the name that was probably meant: the nearest of a few
// known names to one that is unknown.
package suggest

import (
	"strings"
	"unicode/utf8"

	"sheaf/internal/edits"
)

// Nearest is the known name at the smallest edit distance from name, letter
// case aside, the first of several; "" when none is near enough to be a
// likely typing error: at most one edit for every three characters, and two at
// least for names of four and more. A known name that begins with name (three
// characters or more) is near whatever its length.
func Nearest(name string, known []string) string {
	length := utf8.RuneCountInString(name)
	limit := max(length/3, 1)
	if length >= 4 {
		limit = max(limit, 2)
	}
	return nearest(name, known, limit)
}

// NearestValue is [Nearest] for values that people choose, which may be any words: the first
// letter must be the same, with at most one edit for every four characters.
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

// nearest is the known name within limit edits, or that begins with name.
func nearest(name string, known []string, limit int) string {
	lower := strings.ToLower(name)
	length := utf8.RuneCountInString(lower)
	best, bestDistance := "", limit+1
	letters := []rune(lower)
	for _, k := range known {
		d := edits.Distance(letters, []rune(strings.ToLower(k)), limit)
		if length >= 3 && strings.HasPrefix(strings.ToLower(k), lower) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}
