// Package edits counts the typing errors between two words.
package edits

import "slices"

// Weight returns 1/(1+d), where d is the [Distance] from a to b. It returns 0 if d exceeds limit. It also returns 0 if
// the first characters of a and b differ; the parameter prefix is their number.
func Weight(a, b []rune, limit, prefix int) float64 {
	prefix = min(prefix, len(b))
	if len(a) < prefix || !slices.Equal(a[:prefix], b[:prefix]) {
		return 0
	}
	if d := Distance(a, b, limit); d <= limit {
		return 1 / float64(1+d)
	}
	return 0
}

// Distance returns how many insertions, deletions, substitutions and swaps of neighbors turn a into b. No part is
// edited twice (optimal string alignment). If the number is above limit, Distance returns limit+1. The caller must pass
// a limit of 0 or more.
func Distance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	rows := make([]int, 3*(len(b)+1))
	before, last, row := rows[:len(b)+1], rows[len(b)+1:2*len(b)+2], rows[2*len(b)+2:]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}
