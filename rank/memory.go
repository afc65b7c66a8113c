package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Memory is what a ranking is made in that nobody needs when Memory is used again: hits
// with their Legs and Constituents. It belongs to one ranking at a time, and grows with
// what is made in it. Nil makes everything anew. Who keeps a hit of such a ranking copies
// its Legs and Constituents.
type Memory struct {
	hits sheaf.Ranking
	legs []sheaf.Leg
	// inside are constituents, of one hit after another.
	inside []sheaf.Hit
	keys   [2][]maxKey
	list   []int32
	// both are the numbers of what MaxLegs made.
	both []int32
	// numbers are those of the documents that were lifted to.
	numbers []int32
}

// Documents are the numbers of the documents that the hits are which were made here last,
// as [Leg] wants them, equal where they are the same documents; nil when the hits are
// others, or there is a document without one.
func (m *Memory) Documents() []int32 {
	if m == nil || len(m.numbers) == 0 {
		return nil
	}
	return m.numbers
}

// documentsOf is room for the numbers of groups; nil when not all have one.
func (m *Memory) documentsOf(groups []group) []int32 {
	if m == nil {
		return nil
	}
	for i := range groups {
		if groups[i].number == 0 || groups[i].number > math.MaxInt32 {
			return nil
		}
	}
	m.numbers = sized(m.numbers, len(groups))
	return m.numbers
}

// Clear lets go of all text, and of what is too large to keep.
func (m *Memory) Clear() {
	if cap(m.hits) > maxKeptHits || cap(m.inside) > maxKeptHits || cap(m.keys[0]) > maxKeptHits {
		*m = Memory{}
		return
	}
	clear(m.hits[:cap(m.hits)])
	clear(m.inside) // those of one ranking: there is no text behind them
	m.inside = m.inside[:0]
	for i := range m.keys {
		clear(m.keys[i][:cap(m.keys[i])])
	}
}

// ranking is n hits, and legs for them, all zero.
func (m *Memory) ranking(n, legs int) (sheaf.Ranking, []sheaf.Leg) {
	if m == nil {
		return make(sheaf.Ranking, n), make([]sheaf.Leg, legs)
	}
	m.hits, m.legs, m.numbers = sized(m.hits, n), sized(m.legs, legs), m.numbers[:0]
	return m.hits, m.legs
}

// constituents is an empty list with room for n hits, beside those given before.
func (m *Memory) constituents(n int) []sheaf.Hit {
	if m == nil || n == 0 {
		return make([]sheaf.Hit, 0, n)
	}
	from := len(m.inside)
	if cap(m.inside)-from < n { // what was given before stays where it is
		m.inside, from = make([]sheaf.Hit, 0, max(n, 2*cap(m.inside))), 0
	}
	m.inside = m.inside[:from+n]
	return m.inside[from : from : from+n]
}

// merged is room for n numbers of what MaxLegs makes.
func (m *Memory) merged(n int) []int32 {
	if m == nil {
		return make([]int32, n)
	}
	m.both = sized(m.both, n)
	return m.both
}

// max is what MaxLegs works with: two lists of n keys and one of numbers, all empty.
func (m *Memory) max(n, numbers int) (a, b []maxKey, list []int32) {
	if m == nil {
		return make([]maxKey, 0, n), make([]maxKey, 0, n), make([]int32, 0, numbers)
	}
	for i := range m.keys {
		m.keys[i] = slices.Grow(m.keys[i][:0], n)
	}
	m.list = slices.Grow(m.list[:0], numbers)
	return m.keys[0], m.keys[1], m.list
}
