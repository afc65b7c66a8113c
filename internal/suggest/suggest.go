// Package suggest finds the name that was probably meant: the nearest of a few
// known names to one that is unknown.
package suggest

import (
	"strings"
	"unicode/utf8"
)

// Nearest is the known name at the smallest edit distance from name, letter
// case aside, the first of several; "" when none is near enough to be a
// likely typing error: at most one edit for every three characters, and two at
// least for names of four and more. A known name that begins with name (three
// characters or more) is near whatever its length.
func Nearest(name string, known []string) string {
	lower := strings.ToLower(name)
	length := utf8.RuneCountInString(lower)
	limit := max(length/3, 1)
	if length >= 4 {
		limit = max(limit, 2)
	}
	best, bestDistance := "", limit+1
	for _, k := range known {
		d := Distance(lower, strings.ToLower(k))
		if length >= 3 && strings.HasPrefix(strings.ToLower(k), lower) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// Distance counts the edits that turn a into b: inserted, dropped and changed
// characters and swaps of neighbours (optimal string alignment).
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
