package vespa

import (
	"context"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Explain implements [store.Explainer]. It uses match features: BM25 of every field, or the nearest passage's
// similarity.
func (s *Store) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if err := req.ValidatePlain(); err != nil {
		return nil, err
	}
	out := make([]*sheaf.Explanation, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	wanted := slices.Clone(ids)
	if req.Within != nil {
		wanted = slices.DeleteFunc(wanted, func(id sheaf.ID) bool { return !slices.Contains(req.Within, id) })
	}
	req.Within = wanted
	a, err := s.prepare(&req)
	if err != nil {
		return nil, err
	}
	score := a.score
	parts := map[sheaf.ID]*sheaf.Explanation{}
	a.score = func(h *sheaf.Hit, fields hitFields) {
		raw := h.Score
		score(h, fields)
		if req.Vector != nil {
			parts[h.ID] = &sheaf.Explanation{Label: fmt.Sprintf("similarity of %s, passage %d", req.Vector.Field, h.Passage),
				Value: h.Score, Kind: sheaf.KindSimilarity}
			return
		}
		by := 1.0
		if raw != 0 {
			by = h.Score / raw
		}
		parts[h.ID] = explanation(req.Text, a.q.body, fields, by)
	}
	if _, err := s.firstHits(ctx, a, max(len(wanted), 1)); err != nil {
		return nil, err
	}
	for i, id := range ids {
		out[i] = parts[id]
	}
	return out, nil
}

// explanation returns the explanation of a chunk's score, with the scores of its fields as parts. factor converts the
// server's scores to Sheaf's.
func explanation(req *store.TextRequest, sent object, fields hitFields, factor float64) *sheaf.Explanation {
	var parts []sheaf.Explanation
	for _, name := range sheaf.Fields {
		weight, ok := sent["input.query(weight_"+wordField(name)+")"].(float64)
		bm25, found := fields.number("bm25(" + wordField(name) + ")")
		if ok && found && bm25 != 0 {
			parts = append(parts, sheaf.Explanation{Label: name, Value: weight * bm25 * factor,
				Kind: sheaf.KindTerm, Details: map[string]sheaf.Value{"field": sheaf.TextValue(name)},
				Combine: sheaf.CombineProduct,
				Parts:   []sheaf.Explanation{{Label: "weight", Value: weight}, {Label: "BM25", Value: bm25 * factor}}})
		}
	}
	return storekit.ExplainFields(req, parts)
}
