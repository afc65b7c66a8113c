package pgvector

import "maps"

// findPlace tells one making of the tables from another: numbers of terms and fields are
// those of one.
const findPlace = "SELECT tableoid FROM total"

// moved forgets what was read from another place than this.
func (s *Store) moved(place uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if place == s.place {
		return
	}
	s.place, s.fields, s.vectors = place, nil, nil
	clear(s.terms)
}

// memory is the place that what is remembered was read from; 0 when nothing is.
func (s *Store) memory() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place
}

// known are the IDs that are remembered of terms, which it takes out of texts, and where
// they were read.
func (s *Store) known(texts map[string]bool) (map[string]int32, uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := map[string]int32{}
	maps.DeleteFunc(texts, func(text string, _ bool) bool {
		id, ok := s.terms[text]
		if ok {
			ids[text] = id
		}
		return ok
	})
	return ids, s.place
}
