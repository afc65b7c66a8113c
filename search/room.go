package search

import "sheaf"

// Room is memory for one result at a time: itself, the times of its steps, its hits and what
// they point to but for texts and explanations. It belongs to who gives it to a search. The
// zero value is ready.
type Room struct {
	result     Result
	took       []Timing
	hits       []Hit // as long as was used, as lists are
	legs       []sheaf.Leg
	lists      []string
	evidence   []Evidence
	confidence []float64
}

// mostRoom is for how many hits memory is kept.
const mostRoom = 256

// Clear ends the use of the result: another search may have the memory.
func (r *Room) Clear() {
	if cap(r.hits) > mostRoom || cap(r.legs) > 8*mostRoom || cap(r.lists) > 8*mostRoom || cap(r.took) > mostRoom {
		*r = Room{}
		return
	}
	r.result = Result{}
	clear(r.took[:cap(r.took)])
	clear(r.hits)
	clear(r.lists)
	r.hits, r.lists = r.hits[:0], r.lists[:0]
}
