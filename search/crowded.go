package search

import (
	"context"

	"sheaf"
	"sheaf/profile"
)

// A document of hundreds of sections that all match fills what branches retrieve. Where
// per_document then leaves a few of them, nothing else would be found.

// wider is how many times as many results are wanted when a search is widened.
const wider = 4

// widened is the search, or one that wants more results, and so retrieves more, where per_document
// left less than half of what was asked for of more than that, though there may be others. What the
// caller gets is the best of it. q and asked are as they were before the search changed its own.
func (r *run) widened(ctx, retrieval context.Context, q sheaf.Query, asked profile.Asked) (*run, error) {
	for 2*r.spread < q.Limit && 2*(r.spread+r.crowded) >= q.Limit && r.result.More {
		plan, err := r.profile.PlanFor(min(wider*r.followed.Limit, profile.MaxLimit), r.opt.Parameters, asked)
		if err != nil || !retrievesMore(plan, r.followed) {
			return r, nil
		}
		opt := r.opt
		opt.Room = nil // the hits of this search are there
		next := r.searcher.newRun(q, asked, opt, plan)
		next.expansion, next.result.Expansion = r.expansion, r.result.Expansion
		next.vector, next.passage = r.vector, r.passage
		next.result.Facets, next.result.Took = r.result.Facets, r.result.Took
		err = next.follow(ctx, retrieval)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil || next.result.Degraded && !r.result.Degraded: // there was no time left, say
			return r, nil
		}
		r.facts.release()
		r = next
	}
	return r, nil
}

// retrievesMore reports whether a branch of a retrieves more than that of b, another plan of
// the same profile.
func retrievesMore(a, b *profile.Plan) bool {
	for i := range min(len(a.Main.Branches), len(b.Main.Branches)) {
		if a.Main.Branches[i].Limit > b.Main.Branches[i].Limit {
			return true
		}
	}
	return false
}
