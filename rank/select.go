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
