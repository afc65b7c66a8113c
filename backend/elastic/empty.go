package elastic

import (
	"context"

	"sheaf"
)

// Empty implements [backend.Emptier], some chunks at a time. The dictionary stays: what
// nothing holds finds nothing.
func (s *Store) Empty(ctx context.Context) error {
	for more := true; more; {
		err := s.calls.Write(ctx, func(ctx context.Context) (err error) {
			more, err = s.emptySome(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// emptySome removes some chunks, and tells whether there may be more.
func (s *Store) emptySome(ctx context.Context) (more bool, err error) {
	var found answer
	query := object{"size": pageSize, "_source": false, "query": object{"match_all": object{}}, "sort": []string{"_doc"}}
	if err := s.client.Call(ctx, "POST", "/"+s.o.Index+"/_search", query, &found); err != nil {
		return false, err
	}
	out := bulk{s: s, rejected: map[sheaf.ID]error{}}
	for _, h := range found.Hits.Hits {
		if err := out.drop(ctx, h.Key); err != nil {
			return false, err
		}
	}
	if err := out.flush(ctx); err != nil {
		return false, err
	}
	return len(found.Hits.Hits) == pageSize, s.client.Call(ctx, "POST", "/"+s.o.Index+"/_refresh", nil, nil)
}
