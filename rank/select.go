package rank

import (
	"math/bits"
	"slices"
)

// sortFirst sorts the first n of list, by an order in which no two are equal; the
// others stand behind them in any order. It parts the list around one of its members
// until the first n are apart (Hoare: Find, 1961), which takes time linear in the
// list, and then sorts these.
func sortFirst[T any](list []T, n int, compare func(a, b T) int) {
	lo, hi := 0, len(list) // where the border at n lies
	for rounds := 2 * bits.Len(uint(len(list))); n < hi && n > lo && hi-lo > 16; rounds-- {
		if rounds == 0 { // members badly chosen again and again
			slices.SortFunc(list[lo:hi], compare)
			break
		}
		if p := lo + part3(list[lo:hi], compare); n <= p {
			hi = p
		} else {
			lo = p + 1
		}
	}
	if n < hi && n > lo {
		slices.SortFunc(list[lo:hi], compare)
	}
	slices.SortFunc(list[:n], compare)
}

// part3 parts a list of three at least around the middle one of three members, and
// says where that stands: smaller ones before it, larger ones after it.
func part3[T any](list []T, compare func(a, b T) int) int {
	first, mid, last := 0, len(list)/2, len(list)-1
	for _, pair := range [...][2]int{{first, mid}, {mid, last}, {first, mid}} {
		if compare(list[pair[1]], list[pair[0]]) < 0 {
			list[pair[0]], list[pair[1]] = list[pair[1]], list[pair[0]]
		}
	}
	list[mid], list[last] = list[last], list[mid]
	at := 0
	for i := range list[:last] {
		if compare(list[i], list[last]) < 0 {
			list[i], list[at] = list[at], list[i]
			at++
		}
	}
	list[at], list[last] = list[last], list[at]
	return at
}

// sortKeys sorts keys by their scores, the largest first; tied orders two of equal score,
// which are never the same. It is a quicksort without a call for each comparison: those
// are most of what it takes to sort a few hundred hits.
func sortKeys(keys []rowKey, tied func(a, b rowKey) int) {
	sortKeysWithin(keys, tied, 2*bits.Len(uint(len(keys))))
}

func sortKeysWithin(keys []rowKey, tied func(a, b rowKey) int, rounds int) {
	for ; len(keys) > 12; rounds-- {
		if rounds == 0 { // members badly chosen again and again
			slices.SortFunc(keys, func(a, b rowKey) int {
				switch {
				case a.score > b.score:
					return -1
				case a.score < b.score:
					return 1
				}
				return tied(a, b)
			})
			return
		}
		mid, last := len(keys)/2, len(keys)-1
		for _, pair := range [...][2]int{{0, mid}, {mid, last}, {0, mid}} {
			if a, b := &keys[pair[0]], &keys[pair[1]]; b.score > a.score || b.score == a.score && tied(*b, *a) < 0 {
				*a, *b = *b, *a
			}
		}
		keys[mid], keys[last] = keys[last], keys[mid]
		by, at := keys[last], 0
		for i := range keys[:last] {
			if k := keys[i]; k.score > by.score || k.score == by.score && tied(k, by) < 0 {
				keys[i], keys[at] = keys[at], k
				at++
			}
		}
		keys[at], keys[last] = by, keys[at]
		if at < len(keys)/2 {
			sortKeysWithin(keys[:at], tied, rounds-1)
			keys = keys[at+1:]
		} else {
			sortKeysWithin(keys[at+1:], tied, rounds-1)
			keys = keys[:at]
		}
	}
	for i := 1; i < len(keys); i++ {
		k, at := keys[i], i
		for ; at > 0 && (k.score > keys[at-1].score || k.score == keys[at-1].score && tied(k, keys[at-1]) < 0); at-- {
			keys[at] = keys[at-1]
		}
		keys[at] = k
	}
}
