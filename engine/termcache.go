package engine

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"sheaf/engine/segment"
)

// termCache remembers where the posting lists of recent terms of a segment are:
// finding a term takes longer than scoring a short list, and one search asks for the
// same terms several times. It forgets at random and takes no lock. An entry takes some
// 200 bytes with two fields, and 1 kB with as many as there can be, so that a segment's
// take 200 kB to 1 MB when as many terms were asked for.
type termCache struct {
	slots [termSlots]atomic.Pointer[knownTerm]
}

const (
	termSlots = 1 << 10
	// termBytes is the longest term that is remembered.
	termBytes = 64
)

// knownTerm is a term, or that the segment has no such term.
type knownTerm struct {
	key  string
	term *segment.Term // nil when there is none; never changed
}

var termSeed = maphash.MakeSeed()

// walks are walks of dictionaries, for terms that are not remembered.
var walks = sync.Pool{New: func() any { return new(segment.Terms) }}

// term finds a term of the segment; nil when it has none. It must not be changed.
func (h *handle) term(key []byte) (*segment.Term, error) {
	slot := &h.terms.slots[maphash.Bytes(termSeed, key)%termSlots]
	if known := slot.Load(); known != nil && known.key == string(key) {
		return known.term, nil
	}
	walk := walks.Get().(*segment.Terms)
	defer walks.Put(walk)
	walk.Reset(h.reader)
	known := &knownTerm{key: string(key)}
	if walk.Find(key) {
		known.term = walk.Term().Clone()
	} else if err := walk.Err(); err != nil {
		return nil, err
	}
	if len(key) <= termBytes {
		slot.Store(known)
	}
	return known.term, nil
}
