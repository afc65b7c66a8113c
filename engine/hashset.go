package engine

// hashSet is a set of hashes: a table with open addressing, which takes a fraction of
// the time of a map because there is nothing to hash. The zero value is empty.
type hashSet struct {
	slots []uint64 // 0 is free
	count int
}

// has reports whether h is in s.
func (s *hashSet) has(h uint64) bool {
	return s.count > 0 && *s.at(h) != 0
}

// add adds h; false when it is there already.
func (s *hashSet) add(h uint64) bool {
	if s.count*4 >= len(s.slots)*3 {
		old := s.slots
		s.slots = make([]uint64, max(64, 2*len(old)))
		for _, h := range old {
			if h != 0 {
				*s.at(h) = h
			}
		}
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
	mask := uint64(len(s.slots) - 1)
	i := h & mask
	for s.slots[i] != 0 && s.slots[i] != h {
		i = (i + 1) & mask
	}
	return &s.slots[i]
}
