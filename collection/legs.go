package collection

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/store"
)

// legs remembers what branches retrieved and how their scores came about, for
// whoever explains a query and then changes a number: what comes after retrieving
// takes a small part of the time.
type legs struct {
	cache *cache
	at    stamp
}

// maxLegHits is how many hits of a branch, or explanations, are remembered.
const maxLegHits = 2000

// retrieve is what by retrieves for a request, or did before.
func (l *legs) retrieve(ctx context.Context, req store.Request, by store.Backend) (sheaf.Ranking, error) {
	req.Places, req.Room = store.Places{}, nil // a kept list owns its memory
	key := keyOf("retrieve", store.ViewerOf(ctx), req)
	if known, ok := l.cache.get(l.at, key).(sheaf.Ranking); ok {
		return slices.Clone(known), nil
	}
	ranking, err := by.Retrieve(ctx, req)
	if err == nil && len(ranking) <= maxLegHits {
		l.cache.put(l.at, key, slices.Clone(ranking), rankingBytes(ranking))
	}
	return ranking, err
}

// explain is what by says of the scores of ids, or said before.
func (l *legs) explain(ctx context.Context, req store.Request, ids []sheaf.ID, by store.Explainer) ([]*sheaf.Explanation, error) {
	key := keyOf("explain", store.ViewerOf(ctx), req, ids)
	if known, ok := l.cache.get(l.at, key).([]*sheaf.Explanation); ok {
		return slices.Clone(known), nil
	}
	parts, err := by.Explain(ctx, req, ids)
	if err == nil && len(ids) <= maxLegHits {
		bytes := int64(0)
		for _, part := range parts {
			bytes += explanationBytes(part)
		}
		l.cache.put(l.at, key, slices.Clone(parts), bytes)
	}
	return parts, err
}
