package engine

import "sync"

const (
	// placesKept is the largest number of chunks in the cache, enough for a folder of notes. Reading an identifier from
	// the segment takes several times as long as finding it in the cache.
	placesKept = 32 << 10
	// placeBytes is the length of the longest cached identifier.
	placeBytes = 256
)

// place says where a chunk is in a snapshot: the number of the view, and the ordinal in the view. The chunk is not
// deleted, so each identifier has one place.
type place struct {
	view    int
	ordinal uint32
}

// places caches the places and identifiers of recently found chunks. A search reads a hit's identifier, and another
// branch later looks the hit up by it. When full, it drops all entries. Safe for concurrent use.
type places struct {
	mu   sync.Mutex
	ids  map[place]string
	byID map[string]place
}

func newPlaces() *places { return &places{ids: map[place]string{}, byID: map[string]place{}} }

// put caches the place of the chunk with this id, unless id is very long. id must not be a part of a larger text,
// because the cache would keep that text in memory.
func (c *places) put(id string, at place) {
	if len(id) > placeBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) == placesKept {
		clear(c.ids)
		clear(c.byID)
	}
	c.ids[at], c.byID[id] = id, at
}

// id returns the identifier of the chunk at a place. ok is false if the cache lacks it.
func (c *places) id(at place) (id string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok = c.ids[at]
	return id, ok
}

// placeOf returns the place of the chunk with this id. ok is false if the cache lacks it.
func (c *places) placeOf(id string) (at place, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok = c.byID[id]
	return at, ok
}
