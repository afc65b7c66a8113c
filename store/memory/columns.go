package memory

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/internal/distinct"
	"sheaf/store"
)

var (
	_ store.Faceter = (*Backend)(nil)
	_ store.Sorter  = (*Backend)(nil)
)

// Facets implements store.Faceter.
func (b *Backend) Facets(ctx context.Context, req store.Request, columns []string, limit int) ([]store.Facet, error) {
	values, _, err := b.columnsOf(ctx, req)
	if err != nil {
		return nil, err
	}
	out := make([]store.Facet, len(columns))
	for i, column := range columns {
		counts := map[sheaf.Value]int{}
		for _, of := range values {
			var once distinct.List[sheaf.Value]
			for _, v := range of(column) {
				if !v.IsZero() {
					once.Add(v)
				}
			}
			for _, v := range once.Values {
				counts[v]++
			}
		}
		out[i] = store.NewFacet(column, counts, limit)
	}
	return out, nil
}

// Sorted implements store.Sorter.
func (b *Backend) Sorted(ctx context.Context, req store.Request, by store.Order) (sheaf.Ranking, error) {
	values, all, err := b.columnsOf(ctx, req)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(x, y sheaf.Hit) int {
		return by.Compare(x.ID, y.ID, by.Key(values[x.ID](by.Column)), by.Key(values[y.ID](by.Column)))
	})
	return all[:min(len(all), req.Limit)], nil
}

// columnsOf returns every match of a request, and for each match a function that returns the values of a column.
func (b *Backend) columnsOf(ctx context.Context, req store.Request) (map[sheaf.ID]func(column string) []sheaf.Value,
	sheaf.Ranking, error) {
	if err := req.ValidateColumns(); err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, nil, errClosed
	}
	all, err := b.find(req, true)
	if err != nil {
		return nil, nil, err
	}
	values := make(map[sheaf.ID]func(string) []sheaf.Value, len(all))
	for _, h := range all {
		values[h.ID] = b.chunks[h.ID].Values
	}
	return values, all, nil
}
