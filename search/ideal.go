package search

import (
	"context"
	"errors"

	"sheaf/profile"
	"sheaf/rank"
)

// fusion returns the fusion of a phase, with the ideal score of each branch if the fusion needs these scores.
func (r *run) fusion(ctx context.Context, ph *profile.Phase, outcomes []outcome) (rank.Fusion, error) {
	scores, ok := ph.Fusion.(rank.Scores)
	if !ok || scores.Norm != rank.NormShare {
		return ph.Fusion, nil
	}
	scores.Ideals = make([]float64, len(outcomes))
	for i := range outcomes {
		if outcomes[i].request.Text == nil {
			continue
		}
		var err error
		if scores.Ideals[i], err = r.ideal(ctx, &outcomes[i]); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// ideal returns the score of a perfect hit in a branch by words. A perfect hit has every term of the query often, in
// one field of weight 1. The result is the sum of the terms' idf, or the branch's best score if this is larger. If the
// store cannot count, the result is the branch's best score.
func (r *run) ideal(ctx context.Context, o *outcome) (float64, error) {
	best := 0.0
	if len(o.ranking) > 0 {
		best = o.ranking[0].Score
	}
	w, err := r.worthInTime(ctx)
	switch {
	case err != nil:
		return 0, err
	case w == nil || w.sum <= 0:
		return best, nil
	}
	// Words that were not counted, or that match several terms, may score more.
	return max(w.sum, best), nil
}

// worthInTime calls stats.worth. If time runs out before it returns, worthInTime returns nil and adds a warning.
func (r *run) worthInTime(ctx context.Context) (*idfWorth, error) {
	w, err := r.stats.worth(ctx, r.query.Words)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.stats.fault = nil // report it once
		r.warn("timed out before the words of the query were counted; how rare they are does not count")
		return nil, nil
	}
	return w, err
}
