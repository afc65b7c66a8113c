package engine

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	// placesKept is the number of slots of each table in places, enough for a folder of notes. Reading an identifier
	// from the segment takes several times as long as finding it in the table.
	placesKept = 32 << 10
	// placeBytes is the length of the longest cached identifier.
	placeBytes = 256
)

// place says where a chunk is in a snapshot: the number of the view, and the ordinal in the view. Only chunks that are
// not deleted have a place, so each identifier has one place.
type place struct {
	view    int
	ordinal uint32
}

// places caches the identifiers and the places of recently found chunks. One branch of a search reads a hit's
// identifier, and another branch later finds the hit by this identifier. In each table a chunk has one slot, which a
// later chunk may take. places is safe for concurrent use.
type places struct {
	seed    maphash.Seed
	byPlace [placesKept]atomic.Pointer[placedChunk]
	byID    [placesKept]atomic.Pointer[placedChunk]
}

// placedChunk is a chunk with its place. It never changes.
type placedChunk struct {
	id string
	at place
}

func newPlaces() *places { return &places{seed: maphash.MakeSeed()} }

// put caches the place of the chunk with this id, unless id is very long. The cache keeps the memory of id, so the
// caller must not pass a slice of a larger text.
func (c *places) put(id string, at place) {
	if len(id) <= placeBytes {
		chunk := &placedChunk{id, at}
		c.slotOf(at).Store(chunk)
		c.slotOfID(id).Store(chunk)
	}
}

// id returns the identifier of the chunk at a place. ok is false if the cache lacks it.
func (c *places) id(at place) (id string, ok bool) {
	if chunk := c.slotOf(at).Load(); chunk != nil && chunk.at == at {
		return chunk.id, true
	}
	return "", false
}

// placeOf returns the place of the chunk with this id. ok is false if the cache lacks it.
func (c *places) placeOf(id string) (at place, ok bool) {
	if chunk := c.slotOfID(id).Load(); chunk != nil && chunk.id == id {
		return chunk.at, true
	}
	return place{}, false
}

func (c *places) slotOf(at place) *atomic.Pointer[placedChunk] {
	const spread = 20251 // about 0.618 x placesKept: neighboring views begin far from each other
	return &c.byPlace[(uint32(at.view)*spread+at.ordinal)%placesKept]
}

func (c *places) slotOfID(id string) *atomic.Pointer[placedChunk] {
	return &c.byID[maphash.String(c.seed, id)%placesKept]
}
