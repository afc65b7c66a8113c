package rank

import (
	"slices"

	"sheaf"
)

// Memory is what a ranking is made in that nobody needs when Memory is used again: hits
// and their Legs. It belongs to one ranking at a time, and grows with what is made in it.
// Nil makes everything anew. Who keeps a hit of such a ranking copies its Legs.
type Memory struct {
	hits sheaf.Ranking
	legs []sheaf.Leg
	keys [2][]maxKey
	list []int32
}

// Clear lets go of all text, and of what is too large to keep.
func (m *Memory) Clear() {
	if cap(m.hits) > maxKeptHits || cap(m.keys[0]) > maxKeptHits {
		*m = Memory{}
		return
	}
	clear(m.hits[:cap(m.hits)])
	for i := range m.keys {
		clear(m.keys[i][:cap(m.keys[i])])
	}
}

// ranking is n hits, and legs for them, all zero.
func (m *Memory) ranking(n, legs int) (sheaf.Ranking, []sheaf.Leg) {
	if m == nil {
		return make(sheaf.Ranking, n), make([]sheaf.Leg, legs)
	}
	m.hits, m.legs = sized(m.hits, n), sized(m.legs, legs)
	return m.hits, m.legs
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
