package embedded

import (
	"context"
	"fmt"

	"sheaf"
	"sheaf/backend"
	"sheaf/engine"
	"sheaf/engine/segment"
)

var (
	_ backend.Faceter = (*Store)(nil)
	_ backend.Sorter  = (*Store)(nil)
)

// Facets implements [backend.Faceter].
func (s *Store) Facets(ctx context.Context, req backend.Request, columns []string, limit int) ([]backend.Facet, error) {
	if err := req.ValidateColumns(); err != nil {
		return nil, err
	}
	out := make([]backend.Facet, len(columns))
	err := s.answer(req, func(snapshot *engine.Snapshot, r engine.Request) error {
		counts, err := snapshot.Facets(ctx, r, columns)
		for i, of := range counts {
			values := make(map[sheaf.Value]int, len(of))
			for key, n := range of {
				v, ok := segment.DecodeValue([]byte(key), key[0] == byte(sheaf.KindText))
				if !ok {
					return fmt.Errorf("%w: a value of column %q is no value", engine.ErrCorrupt, columns[i])
				}
				values[sheaf.Value{Kind: sheaf.Kind(v.Kind), Text: v.Text, Number: v.Number}] = n
			}
			out[i] = backend.NewFacet(columns[i], values, limit)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Sorted implements [backend.Sorter].
func (s *Store) Sorted(ctx context.Context, req backend.Request, by backend.Order) (sheaf.Ranking, error) {
	if err := req.ValidateColumns(); err != nil {
		return nil, err
	}
	var ranking sheaf.Ranking
	err := s.answer(req, func(snapshot *engine.Snapshot, r engine.Request) error {
		hits, err := snapshot.Sorted(ctx, r, engine.Order{Column: by.Column, Descending: by.Descending})
		for _, h := range hits {
			ranking = append(ranking, sheaf.Hit{ID: sheaf.ID(h.ID), Score: h.Score})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return ranking, nil
}
