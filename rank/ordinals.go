package rank

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"sheaf"
)

// Ordinals number IDs from 0 in the order in which they are added, so that what is
// known of each can stand in a slice. It is a table with open addressing that is used
// again when it is released: for the hits of a query, several times as fast as a map.
// It is used by one goroutine.
type Ordinals struct {
	// slots hold the upper half of an ID's hash, and its ordinal plus 1 in the lower;
	// 0 is empty. Their number is a power of two, at least twice that of ids.
	slots []uint64
	ids   []sheaf.ID
}

var (
	ordinalsSeed = maphash.MakeSeed()
	ordinalsPool = sync.Pool{New: func() any { return new(Ordinals) }}
)

// maxKeptSlots is the largest table that is kept for another use.
const maxKeptSlots = 1 << 16

// NewOrdinals is an empty table with room for n IDs; more may be added.
func NewOrdinals(n int) *Ordinals {
	o := ordinalsPool.Get().(*Ordinals)
	size := 2 << bits.Len(uint(max(n, 8)))
	if cap(o.slots) < size {
		o.slots = make([]uint64, size)
	}
	o.slots = o.slots[:size]
	return o
}

// Release ends the use of o.
func (o *Ordinals) Release() {
	if cap(o.slots) > maxKeptSlots {
		return
	}
	clear(o.slots)
	clear(o.ids) // so that no text is kept
	o.ids = o.ids[:0]
	ordinalsPool.Put(o)
}

// Len is the number of IDs.
func (o *Ordinals) Len() int { return len(o.ids) }

// Add is the ordinal of id, which is added unless it is there.
func (o *Ordinals) Add(id sheaf.ID) (ordinal int, added bool) {
	if 2*len(o.ids) >= len(o.slots) {
		o.grow()
	}
	at, tag := o.slot(id)
	if s := o.slots[at]; s != 0 {
		return int(uint32(s)) - 1, false
	}
	o.ids = append(o.ids, id)
	o.slots[at] = tag | uint64(len(o.ids))
	return len(o.ids) - 1, true
}

// Of is the ordinal of id; false when it was not added.
func (o *Ordinals) Of(id sheaf.ID) (ordinal int, ok bool) {
	at, _ := o.slot(id)
	s := o.slots[at]
	return int(uint32(s)) - 1, s != 0
}

// slot is the place of id, or the empty one where it belongs, and its tag.
func (o *Ordinals) slot(id sheaf.ID) (at, tag uint64) {
	hash := maphash.String(ordinalsSeed, string(id))
	mask := uint64(len(o.slots) - 1)
	tag = hash &^ 0xFFFFFFFF
	for at = hash & mask; ; at = (at + 1) & mask {
		s := o.slots[at]
		if s == 0 || s&^0xFFFFFFFF == tag && o.ids[uint32(s)-1] == id {
			return at, tag
		}
	}
}

func (o *Ordinals) grow() {
	ids := o.ids
	o.slots, o.ids = make([]uint64, 2*len(o.slots)), make([]sheaf.ID, 0, 2*len(ids))
	for _, id := range ids {
		o.Add(id)
	}
}

// Numbering is what [Ordinals] is for what has a number already, such as a document of
// the catalog or a chunk's place in a store: it numbers them from 0 in the order in which
// they are added. Its memory serves again after Reset. It is used by one goroutine.
type Numbering struct {
	// slots hold a number in the upper half, and its ordinal plus 1 in the lower; 0 is
	// empty. Their number is a power of two, at least twice that of what may be added.
	slots []uint64
	n     int
}

// Reset empties the table and makes room for n numbers; no more may be added.
func (t *Numbering) Reset(n int) { t.slots, t.n = sized(t.slots, 2<<bits.Len(uint(max(n, 8)))), 0 }

// Len is how many numbers there are.
func (t *Numbering) Len() int { return t.n }

// Add is the ordinal of a number, which is added unless it is there.
func (t *Numbering) Add(number uint32) (ordinal int, added bool) {
	s := t.slot(number)
	if added = *s == 0; added {
		t.n++
		*s = uint64(number)<<32 | uint64(t.n)
	}
	return int(uint32(*s)) - 1, added
}

// Of is the ordinal of a number; false when it was not added.
func (t *Numbering) Of(number uint32) (ordinal int, ok bool) {
	s := *t.slot(number)
	return int(uint32(s)) - 1, s != 0
}

// slot is that of a number, or the empty one where it belongs.
func (t *Numbering) slot(number uint32) *uint64 {
	const mix = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio: its multiples spread
	mask := uint64(len(t.slots) - 1)
	for at := uint64(number) * mix >> 32 & mask; ; at = (at + 1) & mask {
		if s := &t.slots[at]; *s == 0 || uint32(*s>>32) == number {
			return s
		}
	}
}
