package postgres

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5/pgxpool"
)

// findPlace identifies one creation of the tables. Numbers of terms and fields are only valid for
// that creation.
const findPlace = "SELECT tableoid FROM total"

// moved forgets everything from another place.
func (s *Store) moved(place uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if place == s.place {
		return
	}
	s.place, s.fields = place, nil
	clear(s.terms)
}

// memory returns the place of the remembered numbers; 0 when there are none.
func (s *Store) memory() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place
}

// findOut reads the current place.
func (s *Store) findOut(ctx context.Context, conn *pgxpool.Conn) (place uint32, err error) {
	if err = conn.QueryRow(ctx, findPlace).Scan(&place); err == nil {
		s.moved(place)
	}
	return place, err
}

// known returns the remembered IDs of terms, which it removes from texts, and their place.
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
