package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/store"
)

// found is every hit of some branches, once, with who found it.
type found struct {
	*foundRoom
	ids []sheaf.ID
	by  [][]bool // by branch and place in ids
	// state is that of the places of ids, 0 when they have none.
	state uint64
}

// foundRoom is memory of what was found; what lies in it ends with the search.
type foundRoom struct {
	ids, missing   []sheaf.ID
	by             []bool
	places, absent []uint32 // places of ids, and of missing
}

// forget lets go of all text, and of what is too large to keep.
func (r *foundRoom) forget() {
	if max(cap(r.ids), cap(r.missing)) > maxKeptSlots {
		*r = foundRoom{}
		return
	}
	clear(r.ids[:cap(r.ids)])
	clear(r.missing[:cap(r.missing)])
}

// everyHit is what the branches found, in the order in which it first appears. It ends
// what everyHit gave before with the same memory.
func everyHit(outcomes []outcome, room *foundRoom) found {
	n, state := 0, uint64(0)
	for i := range outcomes {
		o := &outcomes[i]
		if n += len(o.ranking); len(o.ranking) == 0 {
			continue
		}
		if state == 0 {
			state = o.places.State
		}
		if o.places.State != state || len(o.places.Of) != len(o.ranking) {
			state = 0
			n = countHits(outcomes)
			break
		}
	}
	all := found{foundRoom: room, state: state, by: make([][]bool, len(outcomes))}
	byID, byPlace := map[sheaf.ID]int{}, map[uint32]int{}
	room.ids, room.places = slices.Grow(room.ids[:0], n), slices.Grow(room.places[:0], n)
	room.by = cleared(room.by, n*len(outcomes))
	by := room.by
	for i := range outcomes {
		o := &outcomes[i]
		all.by[i], by = by[:n:n], by[n:]
		for k := range o.ranking {
			at, known := 0, false
			if state == 0 {
				at, known = byID[o.ranking[k].ID]
			} else {
				at, known = byPlace[o.places.Of[k]]
			}
			if !known {
				at = len(room.ids)
				room.ids = append(room.ids, o.ranking[k].ID)
				if state == 0 {
					byID[o.ranking[k].ID] = at
				} else {
					byPlace[o.places.Of[k]] = at
					room.places = append(room.places, o.places.Of[k])
				}
			}
			all.by[i][at] = true
		}
	}
	all.ids = room.ids
	return all
}

func countHits(outcomes []outcome) int {
	n := 0
	for i := range outcomes {
		n += len(outcomes[i].ranking)
	}
	return n
}

// cleared is list with n members, all zero, in its memory where that is enough.
func cleared[T any](list []T, n int) []T {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

// lacks are the IDs that a branch did not find, and their places.
func (f *found) lacks(branch int) ([]sheaf.ID, store.Places) {
	if f.state == 0 {
		// A store on another machine may look at them longer than it is waited for.
		return f.appendLacking(make([]sheaf.ID, 0, len(f.ids)), branch), store.Places{}
	}
	from, by := len(f.missing), f.by[branch]
	for at, id := range f.ids {
		if !by[at] {
			f.missing, f.absent = append(f.missing, id), append(f.absent, f.places[at])
		}
	}
	to := len(f.missing)
	return f.missing[from:to:to], store.Places{State: f.state, Of: f.absent[from:to:to]}
}

func (f *found) appendLacking(out []sheaf.ID, branch int) []sheaf.ID {
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
	n := len(outcomes)
	faults, looks := room(&r.facts.faults, n)[:n], room(&r.facts.lookups, n)[:n]
	all.missing, all.absent = all.missing[:0], all.absent[:0]
	for i := range outcomes {
		ids, places := all.lacks(i)
		looks[i] = lookup{ids: ids, places: places}
		if !r.opt.Trace { // which keeps the rankings
			looks[i].answer, looks[i].joined = r.facts.room(len(ids)), r.facts.room(len(outcomes[i].ranking)+len(ids)).Hits
		}
	}
	store.Together(ctx, n, func(i int) { faults[i] = r.lookUp(ctx, &outcomes[i], &looks[i]) })
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

// lookup is what is looked up in a branch that lacks it.
type lookup struct {
	ids    []sheaf.ID
	places store.Places
	// answer is memory for what the store answers, joined for that with what the branch
	// has; nil takes new.
	answer *store.Room
	joined sheaf.Ranking
}

// lookUp adds the hits that a branch lacks of all.
func (r *run) lookUp(ctx context.Context, o *outcome, look *lookup) error {
	req := o.request
	req.Within, req.Places, req.Room = look.ids, look.places, look.answer
	if len(req.Within) == 0 || req.Text != nil && len(o.ranking) < req.Limit && len(o.more) == 0 {
		return nil // the branch found all that matches
	}
	req.Limit = len(req.Within)
	found, err := r.searcher.Backend.Retrieve(ctx, req)
	for _, more := range o.more {
		if err == nil {
			more.Within, more.Places, more.Limit = req.Within, req.Places, req.Limit
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
		o.ranking = append(append(slices.Grow(look.joined, len(o.ranking)+len(found)), o.ranking...), found...)
		if had := len(o.ranking) - len(found); had > 0 && !o.ranking[had-1:had+1].Sorted() {
			o.ranking.Sort() // both parts are in the order that every store answers in
		}
		o.places = store.Places{}
	}
	return nil
}

// placesOf are the places that a store told with what it answered.
func placesOf(room *store.Room, answered sheaf.Ranking) store.Places {
	if room == nil || room.Places.State == 0 || len(room.Places.Of) != len(answered) {
		return store.Places{}
	}
	return room.Places
}
