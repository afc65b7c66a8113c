package search

import (
	"context"
	"errors"
)

// ideals returns the score of a perfect hit in each branch by words, and 0 for other branches. A perfect hit has every
// term of the query often, in one field of weight 1. Its score is the sum of the terms' idf. If the branch's best score
// is larger, or the store cannot count, it is that best score.
func (r *run) ideals(ctx context.Context, outcomes []outcome) ([]float64, error) {
	out := make([]float64, len(outcomes))
	for i := range outcomes {
		if outcomes[i].request.Text == nil {
			continue
		}
		w, err := r.worthInTime(ctx)
		if err != nil {
			return nil, err
		}
		if len(outcomes[i].ranking) > 0 {
			out[i] = outcomes[i].ranking[0].Score
		}
		if w != nil && w.sum > 0 { // words that were not counted, or that match several terms, may score more
			out[i] = max(out[i], w.sum)
		}
	}
	return out, nil
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
