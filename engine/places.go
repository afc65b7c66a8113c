package engine

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

// places remembers where chunks lie that were found lately: a search asks for the
// identifier of a hit, and is asked for the hit by its identifier again, when what
// one branch found is looked up in another. It forgets at random, takes no lock
// and never grows.
type places struct {
	byOrdinal, byID [placeSlots]atomic.Pointer[standing]
	rooms           sync.Pool // of *placeRoom
}

// placeRoom is memory for what is remembered next, of several chunks at once: many small
// pieces are much to look through for what is garbage. One that is remembered keeps those
// that were remembered with it, so that they are few.
type placeRoom struct {
	standings []standing
	ids       strings.Builder
}

const (
	placesTogether = 16
	placeBytes     = 1 << 10
)

// placeSlots is enough for the chunks of a folder of notes, which all turn up sooner or
// later: reading an identifier takes several times as long as finding it here.
const placeSlots = 32 << 10

// standing is where a chunk stands that is not deleted: an identifier has one
// place in a snapshot.
type standing struct {
	id      string
	view    int
	ordinal uint32
	slot    uint32 // of byID
}

var placeSeed = maphash.MakeSeed()

func ordinalSlot(view int, ordinal uint32) int {
	return int((uint64(ordinal)*0x9e3779b97f4a7c15 + uint64(view)*0xbf58476d1ce4e5b9) >> 40 % placeSlots)
}

func idSlot(id string) int { return int(maphash.String(placeSeed, id) % placeSlots) }

// put remembers the chunk called id and returns its own copy of that.
func (c *places) put(id []byte, view int, ordinal uint32) string {
	room, _ := c.rooms.Get().(*placeRoom)
	if room == nil || len(room.standings) == cap(room.standings) || room.ids.Cap()-room.ids.Len() < len(id) {
		room = &placeRoom{standings: make([]standing, 0, placesTogether)}
		room.ids.Grow(max(len(id), placeBytes))
	}
	start := room.ids.Len()
	room.ids.Write(id)
	own := room.ids.String()[start:]
	room.standings = append(room.standings, standing{own, view, ordinal, uint32(idSlot(own))})
	p := &room.standings[len(room.standings)-1]
	c.rooms.Put(room)
	c.byOrdinal[ordinalSlot(view, ordinal)].Store(p)
	c.byID[p.slot].Store(p)
	return own
}

// again lets a chunk that is remembered by its ordinal be found by its identifier
// too, whatever has taken that place meanwhile.
func (c *places) again(p *standing) {
	if slot := &c.byID[p.slot]; slot.Load() != p {
		slot.Store(p)
	}
}

// at is the chunk with an ordinal, nil when it is not remembered.
func (c *places) at(view int, ordinal uint32) *standing {
	if p := c.byOrdinal[ordinalSlot(view, ordinal)].Load(); p != nil && p.view == view && p.ordinal == ordinal {
		return p
	}
	return nil
}

// of is the chunk called id, nil when it is not remembered.
func (c *places) of(id string) *standing {
	if p := c.byID[idSlot(id)].Load(); p != nil && p.id == id {
		return p
	}
	return nil
}
