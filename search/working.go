package search

import (
	"sheaf/rank"
)

// working is what a search works with beside facts, in memory that serves another when it is
// done. Nothing of it is in a result, and a store is given of it only what it does not keep.
type working struct {
	outcomes  []outcome
	lookups   []lookup
	faults    []error
	legs      []rank.Leg
	sought    sought
	parts     []valued
	analyzed  analyzed
	spoken    []string
	sum       worth
	verdict   judged
	byMeaning []bool
}

// mostWorking is for how many of one kind memory is kept.
const mostWorking = 1 << 10

// forget lets go of all that it holds.
func (w *working) forget() {
	forget(&w.outcomes)
	forget(&w.lookups)
	forget(&w.faults)
	forget(&w.legs)
	forget(&w.sought.queries)
	forget(&w.sought.texts)
	forget(&w.sought.places)
	forget(&w.parts)
	forget(&w.analyzed.tokens)
	forget(&w.spoken)
	forget(&w.byMeaning)
	w.sought = sought{queries: w.sought.queries, texts: w.sought.texts, places: w.sought.places}
	w.analyzed = analyzed{tokens: w.analyzed.tokens}
	w.sum, w.verdict = worth{}, judged{text: w.verdict.text[:0]}
}

// forget empties a list, and keeps its memory unless that is large.
func forget[T any](list *[]T) {
	if cap(*list) > mostWorking {
		*list = nil
		return
	}
	clear((*list)[:cap(*list)])
	*list = (*list)[:0]
}

// room is an empty list with room for n, in memory of list behind what was given before.
func room[T any](list *[]T, n int) []T {
	from := len(*list)
	if cap(*list)-from < n { // what was given before stays where it is
		*list, from = make([]T, 0, max(n, 2*cap(*list))), 0
	}
	*list = (*list)[:from+n]
	return (*list)[from : from : from+n]
}
