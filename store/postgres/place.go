package postgres

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5/pgxpool"
)

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
	s.place, s.fields = place, nil
	clear(s.terms)
}

// memory is the place that what is remembered was read from; 0 when nothing is.
func (s *Store) memory() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place
}

// findOut is the place, looked up now.
func (s *Store) findOut(ctx context.Context, conn *pgxpool.Conn) (place uint32, err error) {
	if err = conn.QueryRow(ctx, findPlace).Scan(&place); err == nil {
		s.moved(place)
	}
	return place, err
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
