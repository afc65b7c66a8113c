package search

import (
	"context"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/backend"
	"sheaf/rank"
)

// found is every hit of some branches, once, with who found it.
type found struct {
	ids []sheaf.ID
	by  [][]bool // by branch and place in ids
	// places number the ids.
	places *rank.Ordinals
}

func (f *found) release() {
	if f.places != nil {
		f.places.Release()
	}
}

// everyHit is what the branches found, in the order in which it first appears.
func everyHit(outcomes []outcome) found {
	n := 0
	for i := range outcomes {
		n += len(outcomes[i].ranking)
	}
	all := found{make([]sheaf.ID, 0, n), make([][]bool, len(outcomes)), rank.NewOrdinals(n)}
	by, numbers := make([]bool, n*len(outcomes)), make([]int32, n)
	for i := range outcomes {
		all.by[i], by = by[:n:n], by[n:]
		outcomes[i].numbers, numbers = split(numbers, len(outcomes[i].ranking))
		for k := range outcomes[i].ranking {
			id := outcomes[i].ranking[k].ID
			at, added := all.places.Add(id)
			outcomes[i].numbers[k] = int32(at)
			if added {
				all.ids = append(all.ids, id)
			}
			all.by[i][at] = true
		}
	}
	return all
}

// split is the first n of list, and the rest.
func split(list []int32, n int) (first, rest []int32) { return list[:n:n], list[n:] }

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
	faults, missing := make([]error, len(outcomes)), make([][]sheaf.ID, len(outcomes))
	for i := range outcomes {
		missing[i] = all.missing(i)
		if !r.opt.Trace { // which keeps the rankings
			outcomes[i].room = r.facts.room(len(outcomes[i].ranking) + len(missing[i]))
		}
	}
	backend.Together(ctx, len(outcomes), func(i int) { faults[i] = r.lookUp(ctx, &outcomes[i], missing[i], all.places) })
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

// lookUp adds the hits called ids, which the branch lacks and places number.
func (r *run) lookUp(ctx context.Context, o *outcome, ids []sheaf.ID, places *rank.Ordinals) error {
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
		o.ranking = append(append(slices.Grow(o.room, len(o.ranking)+len(found)), o.ranking...), found...)
		o.number(places)
	}
	return nil
}

// number puts the hits of a branch in order to which others were added, and numbers
// these.
func (o *outcome) number(places *rank.Ordinals) {
	if !o.ranking.Sorted() {
		o.ranking.Sort()
		o.numbers = o.numbers[:0]
	}
	o.numbers = slices.Grow(o.numbers, len(o.ranking)-len(o.numbers))
	for k := len(o.numbers); k < len(o.ranking); k++ {
		at, ok := places.Of(o.ranking[k].ID)
		if !ok { // the store was asked for others
			o.numbers = nil
			return
		}
		o.numbers = append(o.numbers, int32(at))
	}
}
