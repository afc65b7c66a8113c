package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/rank"
	"sheaf/store"
)

// found is every hit of some branches, once, with who found it.
type found struct {
	*foundRoom
	ids []sheaf.ID
	by  [][]bool // by branch and place in ids
	// state is that of the places of ids, 0 when they have none.
	state uint64
	// numbers tell ids by their places in the store; byID where there are none.
	byID *rank.Ordinals
}

// foundRoom is memory of what was found; what lies in it ends with the search.
type foundRoom struct {
	ids, missing   []sheaf.ID
	by             []bool
	numbers        []int32
	places, absent []uint32 // places of ids, and of missing
	table          rank.Numbering
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

func (f *found) release() {
	if f.byID != nil {
		f.byID.Release()
	}
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
	if state == 0 {
		all.byID = rank.NewOrdinals(n)
	} else {
		room.table.Reset(n)
	}
	room.ids, room.places = slices.Grow(room.ids[:0], n), slices.Grow(room.places[:0], n)
	room.by, room.numbers = cleared(room.by, n*len(outcomes)), slices.Grow(room.numbers[:0], n*len(outcomes))
	by, numbers := room.by, room.numbers[:n*len(outcomes)]
	for i := range outcomes {
		o := &outcomes[i]
		all.by[i], by = by[:n:n], by[n:]
		o.numbers, numbers = numbers[:len(o.ranking):n], numbers[n:] // there may be all in the end
		for k := range o.ranking {
			var at int
			var added bool
			if state == 0 {
				at, added = all.byID.Add(o.ranking[k].ID)
			} else if at, added = room.table.Add(o.places.Of[k]); added {
				room.places = append(room.places, o.places.Of[k])
			}
			o.numbers[k] = int32(at)
			if added {
				room.ids = append(room.ids, o.ranking[k].ID)
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

// number is that of a hit, which the store has at a place; without one, state is 0. False
// says that the hit is none of those found.
func (f *found) number(id sheaf.ID, state uint64, place uint32) (int, bool) {
	switch {
	case f.state == 0:
		return f.byID.Of(id)
	case f.state == state:
		return f.table.Of(place)
	}
	at := slices.Index(f.ids, id) // the store has changed meanwhile
	return at, at >= 0
}

// split is the first n of list, and the rest.
func split(list []int32, n int) (first, rest []int32) { return list[:n:n], list[n:] }

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
	store.Together(ctx, n, func(i int) { faults[i] = r.lookUp(ctx, &outcomes[i], &looks[i], all) })
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
func (r *run) lookUp(ctx context.Context, o *outcome, look *lookup, all *found) error {
	req := o.request
	req.Within, req.Places, req.Room = look.ids, look.places, look.answer
	if len(req.Within) == 0 || req.Text != nil && len(o.ranking) < req.Limit && len(o.more) == 0 {
		return nil // the branch found all that matches
	}
	req.Limit = len(req.Within)
	found, err := r.searcher.Backend.Retrieve(ctx, req)
	places := placesOf(req.Room, found)
	for _, more := range o.more {
		if err == nil {
			more.Within, more.Places, more.Limit = req.Within, req.Places, req.Limit
			found, err = larger(ctx, r.searcher.Backend, found, more)
			places = store.Places{}
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
		o.number(all, places)
		o.places = store.Places{} // they are numbered
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

// number numbers the hits that were added to those of a branch, whose places are given
// when they are known, and puts all in order.
func (o *outcome) number(all *found, places store.Places) {
	had := len(o.numbers)
	for k := had; k < len(o.ranking); k++ {
		place := uint32(0)
		if places.State != 0 {
			place = places.Of[k-had]
		}
		at, ok := all.number(o.ranking[k].ID, places.State, place)
		if !ok { // the store was asked for others
			o.numbers = nil
			break
		}
		o.numbers = append(o.numbers, int32(at))
	}
	// Both parts are in the order that every store answers in.
	if had == 0 || had == len(o.ranking) || o.ranking[had-1:had+1].Sorted() {
		return
	}
	numbers := make(map[sheaf.ID]int32, len(o.numbers))
	for k, at := range o.numbers {
		numbers[o.ranking[k].ID] = at
	}
	o.ranking.Sort()
	for k := range o.numbers {
		o.numbers[k] = numbers[o.ranking[k].ID]
	}
}
