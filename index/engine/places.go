package engine

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// places caches the places and identifiers of recently found chunks. A search reads the identifier
// of a hit, and looks the hit up by its identifier again for another branch. It evicts at random,
// takes no lock and never grows.
type places struct {
	recent    recent // has the standings
	byOrdinal placeTable
	byID      placeTable
}

const (
	// placeSlots is enough for the chunks of a folder of notes, which all occur sooner or later:
	// reading an identifier takes several times as long as finding it here.
	placeSlots = 64 << 10
	// placeBlocks allows 128 bytes for each slot.
	placeBlocks = placeSlots * 128 / recentBytes
	// placeWays is the number of slots of a hash in which a place may be.
	placeWays = 4
)

func newPlaces() *places { return &places{recent: newRecent(placeBlocks)} }

// placeTable maps hashes to names of standings in recent. A few bits of the hash are above each
// name, so that most other names need no comparison.
type placeTable [placeSlots / placeWays][placeWays]atomic.Uint64

// placeNames are the bits of a name in a table.
const placeNames = 1<<48 - 1

// of returns the slots of a hash, and the bits above names in them.
func (t *placeTable) of(hash uint64) (slots *[placeWays]atomic.Uint64, above uint64) {
	return &t[hash%uint64(len(t))], hash &^ placeNames
}

// put stores a standing in the slot of an evicted one, or in any slot.
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

// standing is the place of a chunk that is not deleted: an identifier has one place in a snapshot.
// The bytes of its identifier follow in the same memory.
type standing struct {
	view, ordinal uint32
	hash          uint64 // of the identifier
	size          uint64 // in bytes
}

const standingBytes = int(unsafe.Sizeof(standing{}))

// id returns the identifier of the chunk. It stays valid after an eviction.
func (p *standing) id() string {
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(p), standingBytes)), int(p.size))
}

var placeSeed = maphash.MakeSeed()

// ordinalHash spreads consecutive ordinals evenly.
func ordinalHash(view, ordinal uint32) uint64 {
	return bits.RotateLeft64(uint64(ordinal)*0x9e3779b97f4a7c15+uint64(view)*0xbf58476d1ce4e5b9, 24)
}

// put caches the chunk called id, unless id is very long, and returns a copy of id.
func (c *places) put(id []byte, view int, ordinal uint32) string {
	name, room := c.recent.take(standingBytes + len(id) + 1) // with one byte more, so that no pointer points past the end
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

// at returns the identifier of the chunk with an ordinal, if it is cached.
func (c *places) at(view int, ordinal uint32) (id string, ok bool) {
	if p, _ := c.standing(view, ordinal); p != nil {
		return p.id(), true
	}
	return "", false
}

// standing returns the standing of the chunk with an ordinal, and its name; nil when it is not cached.
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

// found caches the place of the chunk called id under its identifier. Other chunks may have evicted
// it there while it is still cached under its ordinal.
func (c *places) found(id string, view int, ordinal uint32) {
	if p, name := c.standing(view, ordinal); p != nil {
		c.byID.put(&c.recent, p.hash, name)
		return
	}
	c.put([]byte(id), view, ordinal)
}

// of returns the place of the chunk called id, nil when it is not cached.
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
