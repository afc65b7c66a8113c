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
// known name that starts with name, of three or more characters, counts as one edit. If every known name is above the
// limit, Nearest returns the first that letters continue in name (addr for address). Such a known name has four or more
// characters. Otherwise Nearest returns "".
func Nearest(name string, known []string) string {
	length := utf8.RuneCountInString(name)
	limit := max(length/3, 1)
	if length >= 4 {
		limit = max(limit, 2)
	}
	near := nearest(name, known, limit)
	for _, k := range known {
		rest, begins := strings.CutPrefix(strings.ToLower(name), strings.ToLower(k))
		if next, _ := utf8.DecodeRuneInString(rest); near == "" && begins && len(k) >= 4 && unicode.IsLetter(next) {
			near = k
		}
	}
	return near
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

// nearest returns the first known name with the fewest edits, at most limit, or "". If name has three or more
// characters, a known name that starts with name counts as one edit.
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
		if length >= 3 && strings.HasPrefix(low, lower) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}
