package search

import (
	"context"
	"fmt"
	"sync"

	"sheaf"
)

// complete looks the hits of every branch up in the others that did not retrieve
// them. Of a branch that retrieves its best, what it did not retrieve comes after
// what it did, so ranks stay as they are.
func (r *run) complete(ctx context.Context, outcomes []outcome) error {
	all := map[sheaf.ID]bool{}
	var order []sheaf.ID
	for i := range outcomes {
		for _, h := range outcomes[i].ranking {
			if !all[h.ID] {
				all[h.ID] = true
				order = append(order, h.ID)
			}
		}
	}
	faults := make([]error, len(outcomes))
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() { faults[i] = r.lookUp(ctx, &outcomes[i], order) })
	}
	wg.Wait()
	for i, err := range faults {
		if ctx.Err() != nil {
			return nil // the branch answered in time, what it lacks counts as missing
		}
		if err != nil {
			return fmt.Errorf("branch %s: look up what other branches found: %w", outcomes[i].branch.Name, err)
		}
	}
	return nil
}

// lookUp adds the hits among ids that the branch lacks.
func (r *run) lookUp(ctx context.Context, o *outcome, ids []sheaf.ID) error {
	has := make(map[sheaf.ID]bool, len(o.ranking))
	for i := range o.ranking {
		has[o.ranking[i].ID] = true
	}
	req := o.request
	req.Within = nil
	for _, id := range ids {
		if !has[id] {
			req.Within = append(req.Within, id)
		}
	}
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
	o.ranking = append(o.ranking[:len(o.ranking):len(o.ranking)], found...)
	o.ranking.Sort()
	return nil
}
