package engine

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// places remembers where chunks lie that were found lately: a search asks for the
// identifier of a hit, and is asked for the hit by its identifier again, when what
// one branch found is looked up in another. It forgets at random, takes no lock
// and never grows.
type places struct {
	recent    recent // standings
	byOrdinal placeTable
	byID      placeTable
}

const (
	// placeSlots is enough for the chunks of a folder of notes, which all turn up sooner or
	// later: reading an identifier takes several times as long as finding it here.
	placeSlots = 64 << 10
	// placeBlocks is 128 bytes a slot.
	placeBlocks = placeSlots * 128 / recentBytes
	// placeWays is in how many slots a place may be: those of a hash.
	placeWays = 4
)

func newPlaces() *places { return &places{recent: newRecent(placeBlocks)} }

// placeTable finds the names of standings in recent by a hash. A few bits of the hash are above
// each name, so that other names need no look.
type placeTable [placeSlots / placeWays][placeWays]atomic.Uint64

// placeNames are the bits of a name in a table.
const placeNames = 1<<48 - 1

// of are the slots for a hash, and what lies above names in them.
func (t *placeTable) of(hash uint64) (slots *[placeWays]atomic.Uint64, above uint64) {
	return &t[hash%uint64(len(t))], hash &^ placeNames
}

// put adds a standing, in the place of one that is forgotten or of any.
func (t *placeTable) put(r *recent, hash, name uint64) {
	slots, above := t.of(hash)
	way := name * 0x9e3779b97f4a7c15 >> 32 % placeWays
	for i := range slots {
		if r.get(slots[i].Load()&placeNames) == nil {
			way = uint64(i)
			break
		}
	}
	slots[way].Store(above | name)
}

// standing is where a chunk stands that is not deleted: an identifier has one
// place in a snapshot. The bytes of its identifier follow in the same piece of memory.
type standing struct {
	view, ordinal uint32
	hash          uint64 // of the identifier
	size          uint64 // likewise
}

const standingBytes = int(unsafe.Sizeof(standing{}))

// id is the identifier of the chunk, which stays as it is, also when it is forgotten here.
func (p *standing) id() string {
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(p), standingBytes)), int(p.size))
}

var placeSeed = maphash.MakeSeed()

// ordinalHash spreads ordinals that follow one another evenly.
func ordinalHash(view, ordinal uint32) uint64 {
	return bits.RotateLeft64(uint64(ordinal)*0x9e3779b97f4a7c15+uint64(view)*0xbf58476d1ce4e5b9, 24)
}

// put remembers the chunk called id, unless that is very long, and returns a copy of that.
func (c *places) put(id []byte, view int, ordinal uint32) string {
	name, room := c.recent.take(standingBytes + len(id) + 1) // with a byte more: nothing points behind it
	if room == nil {
		return string(id)
	}
	p := (*standing)(room)
	*p = standing{view: uint32(view), ordinal: ordinal, hash: maphash.Bytes(placeSeed, id), size: uint64(len(id))}
	copy(unsafe.Slice((*byte)(unsafe.Add(room, standingBytes)), len(id)), id)
	c.byOrdinal.put(&c.recent, ordinalHash(p.view, ordinal), name)
	c.byID.put(&c.recent, p.hash, name)
	return p.id()
}

// at is the identifier of the chunk with an ordinal, if that is remembered.
func (c *places) at(view int, ordinal uint32) (id string, ok bool) {
	if p, _ := c.standing(view, ordinal); p != nil {
		return p.id(), true
	}
	return "", false
}

// standing is that of the chunk with an ordinal, with its name; nil when it is not remembered.
func (c *places) standing(view int, ordinal uint32) (p *standing, name uint64) {
	slots, above := c.byOrdinal.of(ordinalHash(uint32(view), ordinal))
	for i := range slots {
		if name = slots[i].Load() ^ above; name > placeNames {
			continue
		}
		if p = (*standing)(c.recent.get(name)); p != nil && p.view == uint32(view) && p.ordinal == ordinal {
			return p, name
		}
	}
	return nil, 0
}

// found remembers where the chunk called id stands, which was not remembered by its
// identifier: others may have taken that place, where the chunk is found by its ordinal still.
func (c *places) found(id string, view int, ordinal uint32) {
	if p, name := c.standing(view, ordinal); p != nil {
		c.byID.put(&c.recent, p.hash, name)
		return
	}
	c.put([]byte(id), view, ordinal)
}

// of is where the chunk called id stands, nil when it is not remembered.
func (c *places) of(id string) *standing {
	slots, above := c.byID.of(maphash.String(placeSeed, id))
	for i := range slots {
		name := slots[i].Load() ^ above
		if name > placeNames {
			continue
		}
		if p := (*standing)(c.recent.get(name)); p != nil && p.id() == id {
			return p
		}
	}
	return nil
}
