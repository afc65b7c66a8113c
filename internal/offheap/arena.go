package offheap

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// Most blocks have cellBytes. They are cells of arenas, and an arena is mapped and unmapped as a whole. Without
// arenas, an unmapped block between two others would add a mapping, and a system limits the number of mappings
// (usually 65,530 on Linux).
const (
	cellBytes  = 64 << 10
	arenaCells = 64
	arenaBytes = arenaCells * cellBytes
)

type arena struct {
	bytes []byte
	idle  uint64 // a bit for each free cell
}

// arenaSet has the arenas with free cells.
type arenaSet struct {
	mu   sync.Mutex
	open []*arena
}

var arenas arenaSet

// take returns a cell of zeros, or false if the system has no memory left.
func (s *arenaSet) take() (block, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		bytes, ok := mapped(arenaBytes)
		if !ok {
			return block{}, false
		}
		s.open = append(s.open, &arena{bytes, math.MaxUint64})
	}
	a := s.open[len(s.open)-1]
	at := bits.TrailingZeros64(a.idle)
	if a.idle &^= 1 << at; a.idle == 0 {
		s.open = s.open[:len(s.open)-1]
	}
	from := at * cellBytes
	return block{bytes: a.bytes[from : from+cellBytes : from+cellBytes], arena: a}, true
}

// free releases the memory of a cell. After the last cell, it also releases the arena.
func (s *arenaSet) free(b *block) {
	forget(b.bytes) // no other block uses it yet
	s.mu.Lock()
	defer s.mu.Unlock()
	a := b.arena
	if a.idle == 0 {
		s.open = append(s.open, a)
	}
	a.idle |= 1 << (b.at(a) / cellBytes)
	if a.idle == math.MaxUint64 {
		s.open = slices.DeleteFunc(s.open, func(o *arena) bool { return o == a })
		unmap(a.bytes)
	}
}

// at returns the offset of b within a.
func (b *block) at(a *arena) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b.bytes))) - uintptr(unsafe.Pointer(unsafe.SliceData(a.bytes)))
}
