package catalog

import (
	"sync/atomic"

	"sheaf"
)

// placedNodes are the nodes of chunks that a store found, by the number that it has for
// each in one of its states: one look, where an ID is to be read and compared. Like
// metNodes they are parts of outlines, and go when outlines do.
type placedNodes struct {
	state uint64
	pages []atomic.Pointer[nodePage]
}

type nodePage [1 << 12]atomic.Pointer[sheaf.Node]

// maxPlacedNodes bounds the numbers for which there is room.
const maxPlacedNodes = 1 << 20

// NodeAt is [View.Node] of the chunk called id, which a store in this state, above 0, has
// at this place, where it has no other.
func (v *View) NodeAt(id sheaf.ID, state uint64, place uint32) *sheaf.Node {
	known := v.placed.Load()
	if known == nil || known.state < state {
		// Some numbers are those of deleted chunks.
		pages := min(2*v.payload.Chunks, maxPlacedNodes)/len(nodePage{}) + 1
		next := &placedNodes{state, make([]atomic.Pointer[nodePage], pages)}
		if !v.placed.CompareAndSwap(known, next) {
			return v.Node(id)
		}
		known = next
	}
	at := int(place / uint32(len(nodePage{})))
	if known.state != state || at >= len(known.pages) {
		return v.Node(id)
	}
	page := known.pages[at].Load()
	if page == nil {
		page = new(nodePage)
		if !known.pages[at].CompareAndSwap(nil, page) {
			page = known.pages[at].Load()
		}
	}
	slot := &page[place%uint32(len(nodePage{}))]
	if n := slot.Load(); n != nil {
		return n
	}
	n := v.Node(id)
	if n != nil {
		slot.Store(n)
	}
	return n
}
