package engine

import "sheaf/internal/offheap"

// hashSet is a set of hashes: a table with open addressing, which takes a fraction of
// the time of a map because there is nothing to hash. The zero value is empty; free
// ends it.
type hashSet struct {
	slots offheap.List[uint64] // 0 is free
	count int
}

// has reports whether h is in s.
func (s *hashSet) has(h uint64) bool {
	return s.count > 0 && *s.at(h) != 0
}

// add adds h; false when it is there already.
func (s *hashSet) add(h uint64) bool {
	if s.count*4 >= len(s.slots.Items)*3 {
		old := s.slots
		s.slots = offheap.List[uint64]{}
		s.slots.Make(max(64, 2*len(old.Items)))
		for _, h := range old.Items {
			if h != 0 {
				*s.at(h) = h
			}
		}
		old.Free()
	}
	at := s.at(h)
	if *at != 0 {
		return false
	}
	*at = max(h, 1)
	s.count++
	return true
}

// at is the slot that h is in, or would be. The hash 0 is taken for 1: hashes may be
// equal in any case.
func (s *hashSet) at(h uint64) *uint64 {
	h = max(h, 1)
	slots := s.slots.Items
	mask := uint64(len(slots) - 1)
	i := h & mask
	for slots[i] != 0 && slots[i] != h {
		i = (i + 1) & mask
	}
	return &slots[i]
}

// free makes s empty and gives its memory back.
func (s *hashSet) free() {
	s.slots.Free()
	s.count = 0
}
