package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/store"
)

// found is every hit of some branches, once, and who found it.
type found struct {
	ids []sheaf.ID // in the order in which they first appear
	by  [][]bool   // by branch and place in ids
}

// everyHit is what the branches found.
func everyHit(outcomes []outcome) found {
	n := 0
	for i := range outcomes {
		n += len(outcomes[i].ranking)
	}
	all := found{ids: make([]sheaf.ID, 0, n), by: make([][]bool, len(outcomes))}
	places := make(map[sheaf.ID]int, n)
	for i := range outcomes {
		all.by[i] = make([]bool, n)
		for k := range outcomes[i].ranking {
			id := outcomes[i].ranking[k].ID
			at, known := places[id]
			if !known {
				at = len(all.ids)
				places[id] = at
				all.ids = append(all.ids, id)
			}
			all.by[i][at] = true
		}
	}
	return all
}

// lacks are the IDs that a branch did not find.
func (f *found) lacks(branch int) []sheaf.ID {
	out := make([]sheaf.ID, 0, len(f.ids))
	for at, id := range f.ids {
		if !f.by[branch][at] {
			out = append(out, id)
		}
	}
	return out
}

// complete looks the hits of every branch up in the others that did not retrieve
// them. Of a branch that retrieves its best, what it did not retrieve comes after
// what it did, so ranks stay as they are.
func (r *run) complete(ctx context.Context, outcomes []outcome, all *found) error {
	faults := make([]error, len(outcomes))
	store.Together(len(outcomes), func(i int) { faults[i] = r.lookUp(ctx, &outcomes[i], all.lacks(i)) })
	for i, err := range faults {
		if errors.Is(ctx.Err(), context.Canceled) { // nobody waits for the answer
			return ctx.Err()
		}
		if ctx.Err() != nil {
			r.warn("timed out before all scores were complete; missing scores count as 0")
			return nil
		}
		if err != nil {
			return fmt.Errorf("branch %s: look up what other branches found: %w", outcomes[i].branch.Name, err)
		}
	}
	return nil
}

// lookUp adds the hits that a branch lacks.
func (r *run) lookUp(ctx context.Context, o *outcome, lacks []sheaf.ID) error {
	if len(lacks) == 0 || o.request.Text != nil && len(o.ranking) < o.request.Limit && len(o.more) == 0 {
		return nil // the branch found all that matches
	}
	req := o.request
	req.Within, req.Limit = lacks, len(lacks)
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
		o.ranking.Sort() // both parts are in the order that every store answers in
	}
	return nil
}
