package offheap

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// Blocks of cellBytes are by far the most. They are cells of arenas, which are mapped and
// unmapped whole: a system allows so many mappings (65,530 on Linux, usually), and one
// more for each block that is unmapped between two that stay.
const (
	cellBytes  = 64 << 10
	arenaCells = 64
	arenaBytes = arenaCells * cellBytes
)

type arena struct {
	bytes []byte
	idle  uint64 // a bit for each free cell
}

// arenaSet is the arenas of a program that have idle cells.
type arenaSet struct {
	mu   sync.Mutex
	open []*arena
}

var arenas arenaSet

// take takes a cell, zeros; false when no memory can be mapped.
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

// free gives the memory of a cell back, and its arena with the last one.
func (s *arenaSet) free(b *block) {
	forget(b.bytes) // no other owner has it yet
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

// at is where b begins in a.
func (b *block) at(a *arena) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b.bytes))) - uintptr(unsafe.Pointer(unsafe.SliceData(a.bytes)))
}
