package engine

import (
	"math/bits"

	"sheaf/internal/offheap"
)

// hashSet is a set of hashes. It uses tables with open addressing, and is faster than a map because it does not hash
// again. The zero value is empty; free ends the set.
//
// While a table grows, its content exists twice. So a large set is split into hashTables, and only one of them grows
// at a time.
type hashSet struct {
	tables []hashTable
	bytes  int64 // memory of the tables
}

const (
	hashTableBits = 6
	hashTables    = 1 << hashTableBits
	// splitHashes is the number of hashes from which a set is split into several tables.
	splitHashes = 1 << 12
	fewestSlots = 64
)

// hashTable is a table of hashes.
type hashTable struct {
	slots offheap.List[uint64] // 0 means free
	count int
}

// table returns the table that may contain h. h is not 0.
func (s *hashSet) table(h uint64) *hashTable {
	if len(s.tables) == 1 {
		return &s.tables[0]
	}
	return &s.tables[h>>(64-hashTableBits)]
}

// has reports whether h is in s. The hash 0 counts as 1. This is harmless, because hashes may collide anyway.
func (s *hashSet) has(h uint64) bool {
	if len(s.tables) == 0 {
		return false
	}
	h = max(h, 1)
	t := s.table(h)
	return t.count > 0 && *t.at(h) != 0
}

// add adds h. It returns false if s has h already.
func (s *hashSet) add(h uint64) bool {
	h = max(h, 1)
	switch {
	case len(s.tables) == 0:
		s.tables = make([]hashTable, 1)
	case len(s.tables) == 1 && s.tables[0].count >= splitHashes:
		s.split()
	}
	t := s.table(h)
	if t.count*4 >= len(t.slots.Items)*3 {
		s.grow(t)
	}
	at := t.at(h)
	if *at != 0 {
		return false
	}
	*at = h
	t.count++
	return true
}

// split replaces the only table of s with several tables.
func (s *hashSet) split() {
	one := s.tables[0].slots
	s.tables, s.bytes = make([]hashTable, hashTables), 0
	for _, h := range one.Items {
		if h != 0 {
			s.add(h)
		}
	}
	one.Free()
}

// grow makes t one and a half times as large.
func (s *hashSet) grow(t *hashTable) {
	old := t.slots
	t.slots = offheap.List[uint64]{}
	t.slots.Make(max(fewestSlots, len(old.Items)/2*3))
	for _, h := range old.Items {
		if h != 0 {
			*t.at(h) = h
		}
	}
	s.bytes += t.slots.Bytes() - old.Bytes()
	old.Free()
}

// at returns the slot that has h, or a free slot for h.
func (t *hashTable) at(h uint64) *uint64 {
	slots := t.slots.Items
	place, _ := bits.Mul64(h<<hashTableBits, uint64(len(slots)))
	for i := int(place); ; {
		if slots[i] == 0 || slots[i] == h {
			return &slots[i]
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

// free makes s empty and releases its memory.
func (s *hashSet) free() {
	for i := range s.tables {
		s.tables[i].slots.Free()
	}
	*s = hashSet{}
}
