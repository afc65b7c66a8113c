package search

import (
	"context"
	"fmt"

	"sheaf"
	"sheaf/store"
)

// required returns the part of a query that every hit must match, even a hit by vector. Examples are a phrase and a
// forbidden word. If words only add to the score, it returns nil.
func required(q sheaf.TextQuery) sheaf.TextQuery {
	switch q := q.(type) {
	case sheaf.Match:
		if q.Field == "" {
			return nil
		}
	case sheaf.Boost:
		return required(q.Query)
	case sheaf.Bool:
		out := sheaf.Bool{Must: q.Must, MustNot: q.MustNot}
		if len(q.Must) == 0 {
			for _, part := range q.Should {
				r := required(part)
				if r == nil {
					out.Should = nil
					break
				}
				out.Should = append(out.Should, r)
			}
		}
		if len(out.Must)+len(out.MustNot)+len(out.Should) == 0 {
			return nil
		}
		return out
	}
	return q
}

// requirement returns a request for the chunks that match a condition in any field.
func requirement(condition sheaf.TextQuery) store.TextRequest {
	return store.TextRequest{Query: condition, Fields: everyField, K1: store.DefaultK1, B: store.DefaultB}
}

// bounds returns a copy of a vector request that finds only chunks that match a condition. If the store cannot do this,
// filter the hits with the function matching.
func bounds(vector *store.VectorRequest, condition sheaf.TextQuery) *store.VectorRequest {
	text, bounded := requirement(condition), *vector
	bounded.Matching = &text
	return &bounded
}

// matching returns the hits that match a condition. If the condition is nil, it returns all hits.
func matching(ctx context.Context, st store.Backend, hits sheaf.Ranking, condition sheaf.TextQuery) (
	sheaf.Ranking, error) {
	if condition == nil || len(hits) == 0 {
		return hits, nil
	}
	text := requirement(condition)
	req := store.Request{Limit: len(hits), Text: &text}
	for i := range hits {
		req.Within = append(req.Within, hits[i].ID)
	}
	found, err := st.Retrieve(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("match required words: %w", err)
	}
	keep := make(map[sheaf.ID]bool, len(found))
	for i := range found {
		keep[found[i].ID] = true
	}
	out := make(sheaf.Ranking, 0, len(found))
	for _, h := range hits {
		if keep[h.ID] {
			out = append(out, h)
		}
	}
	return out, nil
}
