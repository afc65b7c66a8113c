package search

import (
	"context"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/store"
)

// candidatesOf returns the distinct hits of all branches, in the order in which they first appear. Bit b of foundBy[id]
// says that branch b found the hit; a profile has at most 16 branches.
func candidatesOf(outcomes []outcome) (ids []sheaf.ID, foundBy map[sheaf.ID]uint32) {
	foundBy = map[sheaf.ID]uint32{}
	for branch := range outcomes {
		for i := range outcomes[branch].ranking {
			id := outcomes[branch].ranking[i].ID
			if foundBy[id] == 0 {
				ids = append(ids, id)
			}
			foundBy[id] |= 1 << branch
		}
	}
	return ids, foundBy
}

// complete asks each branch to score the hits that only other branches found. In the ranking of the branch, these hits
// come after the hits that the branch found itself. For candidates and foundBy, see candidatesOf.
func (r *run) complete(ctx context.Context, outcomes []outcome, candidates []sheaf.ID,
	foundBy map[sheaf.ID]uint32) error {
	faults := make([]error, len(outcomes))
	store.Together(len(outcomes), func(i int) {
		found := func(id sheaf.ID) bool { return foundBy[id]>>i&1 != 0 }
		faults[i] = r.lookUp(ctx, &outcomes[i], slices.DeleteFunc(slices.Clone(candidates), found))
	})
	for i, err := range faults {
		if canceled(ctx) != nil {
			return ctx.Err()
		}
		if ctx.Err() != nil {
			r.warn("timed out before all scores were complete; missing scores count as 0")
			return nil
		}
		if err != nil {
			return fmt.Errorf("branch %s: score the results of other branches: %w", outcomes[i].branch.Name, err)
		}
	}
	return nil
}

// lookUp asks a branch for the scores of the hits whose IDs are missing from the branch. It adds these scores to the
// outcome of the branch.
func (r *run) lookUp(ctx context.Context, o *outcome, missing []sheaf.ID) error {
	if len(missing) == 0 || o.request.Text != nil && len(o.ranking) < o.request.Limit && len(o.more) == 0 {
		return nil // the branch found every match
	}
	req := o.request
	req.Within, req.Limit = missing, len(missing)
	found, err := r.searcher.Backend.Retrieve(ctx, req)
	for _, more := range o.more {
		if err == nil {
			more.Within, more.Limit = req.Within, req.Limit
			found, err = larger(ctx, r.searcher.Backend, found, more)
		}
	}
	if err != nil {
		return err
	}
	if err := found.Valid("scores of the store"); err != nil {
		return err
	}
	had := len(o.ranking)
	if len(found) > 0 {
		o.ranking = slices.Concat(o.ranking, found)
	}
	if had > 0 && had < len(o.ranking) && !o.ranking[had-1:had+1].Sorted() {
		o.ranking.Sort() // stores answer in this order, so Sort merges both parts
	}
	return nil
}
