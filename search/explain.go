package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"sheaf"
	"sheaf/store"
)

// explainLeg adds explanations to the hits of a branch. If the store explains parts of a score, the explanation
// includes these parts. explainLeg returns an error only when ctx was canceled.
func (r *run) explainLeg(ctx context.Context, o *outcome) error {
	ids := make([]sheaf.ID, len(o.ranking))
	for i := range o.ranking {
		ids[i] = o.ranking[i].ID
	}
	var parts []*sheaf.Explanation
	var others [][]*sheaf.Explanation // of further requests of the branch
	if explainer, ok := r.searcher.Backend.(store.Explainer); ok {
		var err error
		if parts, err = explainer.Explain(ctx, o.request, ids); err != nil {
			r.short(err)
			bare := "the store cannot explain the scores of branch " + o.branch.Name
			text := fmt.Sprintf("%s: %v", bare, err)
			r.result.bare(text, bare)
			r.note("%s", text)
			parts = nil
		}
		for _, req := range o.more {
			p, err := explainer.Explain(ctx, req, ids)
			if r.short(err); err == nil && parts != nil {
				others = append(others, p)
			}
		}
		if canceled(ctx) != nil {
			return ctx.Err()
		}
	}
	by := "text"
	if o.request.Vector != nil {
		by = "vector"
	}
	o.ranking = slices.Clone(o.ranking) // do not change the store's slice
	for i := range o.ranking {
		h := &o.ranking[i]
		for _, p := range others {
			// A hit has the score of the request that scored it highest.
			if p[i] != nil && (parts[i] == nil || p[i].Value > parts[i].Value) {
				parts[i] = p[i]
			}
		}
		e := &sheaf.Explanation{Label: fmt.Sprintf("rank %d by %s", i+1, o.branch.Name), Value: h.Score,
			Kind: sheaf.KindLeg, Details: map[string]sheaf.Value{"branch": sheaf.TextValue(o.branch.Name),
				"rank": sheaf.NumberValue(float64(i + 1)), "by": sheaf.TextValue(by)}}
		if i < len(parts) && parts[i] != nil {
			e.Parts = []sheaf.Explanation{*parts[i]}
			if near(parts[i].Recombine(), h.Score) {
				e.Combine = sheaf.CombineSum
			}
		}
		h.Explanation = e
	}
	return nil
}

// near reports whether two scores are equal within the precision of explanations.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }
