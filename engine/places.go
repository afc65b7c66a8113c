package engine

import (
	"hash/maphash"
	"sync/atomic"
	"unsafe"
)

// places remembers where chunks lie that were found lately: a search asks for the
// identifier of a hit, and is asked for the hit by its identifier again, when what
// one branch found is looked up in another. It forgets at random, takes no lock
// and never grows.
type places struct {
	byOrdinal [placeSlots]atomic.Pointer[standing]
	byID      [placeSlots]atomic.Uint32 // the slot of byOrdinal
}

// placeSlots is enough for the chunks of a folder of notes, which all turn up sooner or
// later: reading an identifier takes several times as long as finding it here.
const placeSlots = 32 << 10

// standing is where a chunk stands that is not deleted: an identifier has one
// place in a snapshot. The bytes of its identifier follow in the same piece of memory,
// which has no pointers and keeps nothing else alive: the collector lets the heap grow to
// twice what is remembered, and looks at each pointer to it.
type standing struct {
	view, ordinal uint32
	slot          uint32 // of byID
	size          uint32 // of the identifier
}

const standingBytes = int(unsafe.Sizeof(standing{}))

func newStanding(id []byte, view int, ordinal uint32) *standing {
	// Aligned as a standing is, and with a byte more than needed: nothing points behind it.
	words := make([]uint32, (standingBytes+len(id)+4)/4)
	p := (*standing)(unsafe.Pointer(unsafe.SliceData(words)))
	*p = standing{view: uint32(view), ordinal: ordinal, size: uint32(len(id))}
	copy(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(p), standingBytes)), len(id)), id)
	p.slot = idSlot(p.id())
	return p
}

// id is the identifier of the chunk, which stays as it is, also when it is forgotten here.
func (p *standing) id() string {
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(p), standingBytes)), int(p.size))
}

var placeSeed = maphash.MakeSeed()

func ordinalSlot(view, ordinal uint32) uint32 {
	return uint32((uint64(ordinal)*0x9e3779b97f4a7c15 + uint64(view)*0xbf58476d1ce4e5b9) >> 40 % placeSlots)
}

func idSlot(id string) uint32 { return uint32(maphash.String(placeSeed, id) % placeSlots) }

// put remembers the chunk called id and returns its own copy of that.
func (c *places) put(id []byte, view int, ordinal uint32) string {
	p := newStanding(id, view, ordinal)
	slot := ordinalSlot(p.view, ordinal)
	c.byOrdinal[slot].Store(p)
	c.byID[p.slot].Store(slot)
	return p.id()
}

// at is the identifier of the chunk with an ordinal, if that is remembered. It can be found
// by its identifier then too, whatever has taken that place meanwhile.
func (c *places) at(view int, ordinal uint32) (id string, ok bool) {
	slot := ordinalSlot(uint32(view), ordinal)
	p := c.byOrdinal[slot].Load()
	if p == nil || p.view != uint32(view) || p.ordinal != ordinal {
		return "", false
	}
	if byID := &c.byID[p.slot]; byID.Load() != slot {
		byID.Store(slot)
	}
	return p.id(), true
}

// of is where the chunk called id stands, nil when it is not remembered.
func (c *places) of(id string) *standing {
	if p := c.byOrdinal[c.byID[idSlot(id)].Load()].Load(); p != nil && p.id() == id {
		return p
	}
	return nil
}
