package search

import (
	"context"
	"errors"

	"sheaf/profile"
	"sheaf/rank"
)

// fusion is that of a phase, with what the query is worth in each branch when the
// fusion asks for it.
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

// ideal is what a hit would score in a branch of words that has each of the
// query's terms often, in one field of weight 1: the sum of their idf, as counted
// over all chunks. When the store cannot count, it is the branch's best score.
func (r *run) ideal(ctx context.Context, o *outcome) (float64, error) {
	best := 0.0
	if len(o.ranking) > 0 {
		best = o.ranking[0].Score
	}
	w, err := r.counted(ctx)
	switch {
	case err != nil:
		return 0, err
	case w == nil || w.sum <= 0:
		return best, nil
	}
	// Words that were not counted, and words that stand for several terms, may score more.
	return max(w.sum, best), nil
}

// worth is what the words of the query are worth; nil when the store cannot count.
func (r *run) worth(ctx context.Context) (*worth, error) { return r.stats.worth(ctx, r.query.Words) }

// counted returns what worth does. When the time ends before the words are counted, it
// returns nil and the answer says so.
func (r *run) counted(ctx context.Context) (*worth, error) {
	w, err := r.worth(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.stats.fault = nil // say it once
		r.warn("timed out before the words of the query were counted; how rare they are does not count")
		return nil, nil
	}
	return w, err
}
