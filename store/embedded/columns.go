package embedded

import (
	"context"
	"fmt"

	"sheaf"
	"sheaf/index/engine"
	"sheaf/index/engine/segment"
	"sheaf/store"
)

var (
	_ store.Faceter = (*Store)(nil)
	_ store.Sorter  = (*Store)(nil)
)

// Facets implements [store.Faceter].
func (s *Store) Facets(ctx context.Context, req store.Request, columns []string, limit int) ([]store.Facet, error) {
	if err := req.ValidateColumns(); err != nil {
		return nil, err
	}
	snapshot, r, err := s.begin(req)
	if err != nil {
		return nil, err
	}
	out := make([]store.Facet, len(columns))
	counts, err := snapshot.Facets(ctx, r, columns)
	for i, of := range counts {
		values := make(map[sheaf.Value]int, len(of))
		for key, n := range of {
			v, ok := segment.DecodeValue([]byte(key), key[0] == byte(sheaf.KindText))
			if !ok {
				err = fmt.Errorf("%w: a value of column %q is invalid", engine.ErrCorrupt, columns[i])
			}
			values[sheaf.Value{Kind: sheaf.Kind(v.Kind), Text: v.Text, Number: v.Number}] = n
		}
		out[i] = store.NewFacet(columns[i], values, limit)
	}
	return out, release(snapshot, err)
}

// Sorted implements [store.Sorter].
func (s *Store) Sorted(ctx context.Context, req store.Request, by store.Order) (sheaf.Ranking, error) {
	if err := req.ValidateColumns(); err != nil {
		return nil, err
	}
	snapshot, r, err := s.begin(req)
	if err != nil {
		return nil, err
	}
	hits, err := snapshot.Sorted(ctx, r, engine.Order{Column: by.Column, Descending: by.Descending})
	return hits, release(snapshot, err)
}
