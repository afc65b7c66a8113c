package engine

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"unsafe"

	"sheaf/index/engine/segment"
)

// termCache caches where the posting lists of recent terms of a segment are: finding a term takes
// longer than scoring a short list, and one search needs the same terms several times. It evicts at
// random and takes no lock. An entry takes some 200 bytes with two fields, and 1 kB with the most
// fields.
type termCache struct {
	recent recent
	slots  [termSlots]atomic.Uint64 // the name of a knownTerm in recent
}

const (
	termSlots = 1 << 10
	// termBlocks allows 256 bytes for each slot.
	termBlocks = termSlots * 256 / recentBytes
	// termBytes is the length of the longest cached term.
	termBytes = 64
)

// knownTerm is a cached term of a segment, or the fact that the segment lacks it. A copy of a
// segment.Term and the bytes of the key follow in the same memory.
type knownTerm struct{ term, key uint64 } // the sizes of both in bytes

const knownBytes = int(unsafe.Sizeof(knownTerm{}))

// of returns the term.
func (k *knownTerm) of() segment.Term {
	if k.term == 0 {
		return segment.Term{}
	}
	return segment.TermAt(unsafe.Add(unsafe.Pointer(k), knownBytes))
}

// is reports whether the cached term has this key.
func (k *knownTerm) is(key []byte) bool {
	return int(k.key) == len(key) && unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(k), knownBytes+int(k.term))),
		len(key)) == string(key)
}

var termSeed = maphash.MakeSeed()

// walks are walks of dictionaries, for terms that are not cached.
var walks = sync.Pool{New: func() any { return new(segment.Terms) }}

// term finds a term of the segment; if there is none, it returns a term without fields. The result
// must not be changed.
func (h *handle) term(key []byte) (segment.Term, error) {
	slot := &h.terms.slots[maphash.Bytes(termSeed, key)%termSlots]
	if known := (*knownTerm)(h.terms.recent.get(slot.Load())); known != nil && known.is(key) {
		return known.of(), nil
	}
	walk := walks.Get().(*segment.Terms)
	defer walks.Put(walk)
	walk.Reset(h.reader)
	term, bytes := &segment.Term{}, 0
	if walk.Find(key) {
		term = walk.Term()
		bytes = term.Bytes()
	} else if err := walk.Err(); err != nil {
		return segment.Term{}, err
	}
	if len(key) <= termBytes {
		// with one byte more, so that no pointer points past the end
		if name, room := h.terms.recent.take(knownBytes + bytes + len(key) + 1); room != nil {
			known := (*knownTerm)(room)
			*known = knownTerm{uint64(bytes), uint64(len(key))}
			if bytes > 0 {
				term.CopyTo(unsafe.Add(room, knownBytes))
			}
			copy(unsafe.Slice((*byte)(unsafe.Add(room, knownBytes+bytes)), len(key)), key)
			slot.Store(name)
			return known.of(), nil
		}
	}
	if bytes == 0 {
		return segment.Term{}, nil
	}
	room := unsafe.Pointer(unsafe.SliceData(make([]uint64, (bytes+7)/8+1)))
	term.CopyTo(room)
	return segment.TermAt(room), nil
}
