package search

import "sheaf"

// Room is memory for the hits of one result at a time, and what they point to but for texts
// and explanations. It belongs to who gives it to a search. The zero value is ready.
type Room struct {
	hits       []Hit // as long as was used, as lists are
	legs       []sheaf.Leg
	lists      []string
	evidence   []Evidence
	confidence []float64
}

// mostRoom is for how many hits memory is kept.
const mostRoom = 256

// Clear ends the use of the hits: another search may have the memory.
func (r *Room) Clear() {
	if cap(r.hits) > mostRoom || cap(r.legs) > 8*mostRoom || cap(r.lists) > 8*mostRoom {
		*r = Room{}
		return
	}
	clear(r.hits)
	clear(r.lists)
	r.hits, r.lists = r.hits[:0], r.lists[:0]
}
