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
	out := make([]store.Facet, len(columns))
	return out, b.matchesOfColumns(ctx, req, func(all sheaf.Ranking) {
		for i, column := range columns {
			counts := map[sheaf.Value]int{}
			for _, h := range all {
				var once distinct.List[sheaf.Value]
				for _, v := range b.chunks[h.ID].Values(column) {
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
	})
}

// Sorted implements store.Sorter.
func (b *Backend) Sorted(ctx context.Context, req store.Request, by store.Order) (out sheaf.Ranking, err error) {
	err = b.matchesOfColumns(ctx, req, func(all sheaf.Ranking) {
		key := func(h sheaf.Hit) sheaf.Value { return by.Key(b.chunks[h.ID].Values(by.Column)) }
		slices.SortFunc(all, func(x, y sheaf.Hit) int { return by.Compare(x.ID, y.ID, key(x), key(y)) })
		out = all[:min(len(all), req.Limit)]
	})
	return out, err
}

// matchesOfColumns calls the function use with every match of a request, while no write changes the columns of the
// matches.
func (b *Backend) matchesOfColumns(ctx context.Context, req store.Request, use func(all sheaf.Ranking)) error {
	if err := req.ValidateColumns(); err != nil {
		return err
	}
	return b.read(ctx, func() error {
		all, err := b.find(req, true)
		if err == nil {
			use(all)
		}
		return err
	})
}
