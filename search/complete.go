package search

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"sheaf"
	"sheaf/rank"
)

// found is every hit of some branches, once, with who found it.
type found struct {
	ids []sheaf.ID
	by  [][]bool // by branch and place in ids
}

// everyHit is what the branches found, in the order in which it first appears.
func everyHit(outcomes []outcome) found {
	n := 0
	for i := range outcomes {
		n += len(outcomes[i].ranking)
	}
	all := found{make([]sheaf.ID, 0, n), make([][]bool, len(outcomes))}
	places := rank.NewOrdinals(n)
	defer places.Release()
	by := make([]bool, n*len(outcomes))
	for i := range outcomes {
		all.by[i], by = by[:n:n], by[n:]
		for k := range outcomes[i].ranking {
			id := outcomes[i].ranking[k].ID
			at, added := places.Add(id)
			if added {
				all.ids = append(all.ids, id)
			}
			all.by[i][at] = true
		}
	}
	return all
}

// missing are those that a branch did not find.
func (f *found) missing(branch int) []sheaf.ID {
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
func (r *run) complete(ctx context.Context, outcomes []outcome, all found) error {
	faults := make([]error, len(outcomes))
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() { faults[i] = r.lookUp(ctx, &outcomes[i], all.missing(i)) })
	}
	wg.Wait()
	for i, err := range faults {
		if ctx.Err() != nil {
			r.warn("time ran out before every branch scored what others found: what is missing counts as not found")
			return nil
		}
		if err != nil {
			return fmt.Errorf("branch %s: look up what other branches found: %w", outcomes[i].branch.Name, err)
		}
	}
	return nil
}

// lookUp adds the hits called ids, which the branch lacks.
func (r *run) lookUp(ctx context.Context, o *outcome, ids []sheaf.ID) error {
	req := o.request
	req.Within = ids
	if len(req.Within) == 0 || req.Text != nil && len(o.ranking) < req.Limit && len(o.more) == 0 {
		return nil // the branch found all that matches
	}
	req.Limit = len(req.Within)
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
	if len(found) > 0 { // what the branch retrieved is the store's
		o.ranking = slices.Concat(o.ranking, found)
		o.ranking.Sort()
	}
	return nil
}
