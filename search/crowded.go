package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"sheaf"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/store"
)

// A document of hundreds of sections that all match fills what branches retrieve. Where
// per_document then leaves a few of them, nothing else would be found.

// wider is how many times as many results are wanted when a search is widened.
const wider = 4

// widened is the search, or one that wants more results, and so retrieves more, where per_document
// left less than half of what was asked for of more than that, though there may be others. What the
// caller gets is the best of it. q is the query as it was before the search changed its own.
func (r *run) widened(ctx, retrieval context.Context, q sheaf.Query) (*run, error) {
	for 2*r.spread < q.Limit && 2*(r.spread+r.crowded) >= q.Limit && r.result.More {
		plan, err := r.profile.Plan(min(wider*r.followed.Limit, profile.MaxLimit), r.opt.Parameters)
		if err != nil || !retrievesMore(plan, r.followed) {
			return r, nil
		}
		opt := r.opt
		opt.Room = nil // the hits of this search are there
		next := r.searcher.newRun(q, opt, plan)
		next.expansion, next.result.Expansion = r.expansion, r.result.Expansion
		next.vector, next.invented = r.vector, r.invented
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

// mostRounds is how many times at most a listing is gone on with, and mostListed how many hits
// one of these retrieves at most.
const (
	mostRounds = 6
	mostListed = 10_000
)

// goOn retrieves more for a branch of a query that looks for no words, which lists what its filter
// lets through in the order of IDs: there a document of thousands of sections fills whatever limit.
// It asks again for what lies outside the documents that have all the hits that stages leave one,
// and adds as many of each of the others, until there is enough. What is left out are fewer documents
// than results are wanted.
func (r *run) goOn(ctx context.Context, ph *profile.Phase, o *outcome) {
	if b, ok := r.query.Words.(sheaf.Bool); !ok || len(b.Must)+len(b.Should) > 0 || !o.full {
		return
	}
	share := rank.PerDocument{Max: shareOf(o.branch.Then, ph.Then)}
	if share.Max == 0 {
		return
	}
	env, start, req, n := r.env(), clock(), o.request, len(o.ranking)
	most := min(largest(r.searcher.Backend, req), mostListed)
	for round := 0; o.full && round < mostRounds; round++ {
		kept, err := share.Apply(r.known(o.ranking), env)
		others := r.without(kept, share.Max)
		if err != nil || len(kept) >= r.query.Limit || others == nil {
			break
		}
		req.Filter, req.Limit = others, max(req.Limit, min(wider*req.Limit, most))
		if o.request.Filter != nil {
			req.Filter = sheaf.And{o.request.Filter, others}
		}
		found, err := r.searcher.Backend.Retrieve(ctx, req)
		if err == nil {
			err = found.Valid("scores of " + r.searcher.storeName())
		}
		full := len(found) >= req.Limit
		if err == nil {
			found, err = share.Apply(r.known(found), env)
		}
		if err != nil {
			if !errors.Is(err, sheaf.ErrUnsupported) { // else there is no more to be had
				r.failed("listing more", fmt.Errorf("branch %s: what lies outside documents that fill the list: %w", o.branch.Name, store.Gone(err)))
			}
			break
		}
		o.add(found[:min(len(found), o.request.Limit)])
		o.full = full || len(found) > o.request.Limit
	}
	if len(o.ranking) > n {
		r.took(lane{branch: o.branch.Name}.step("go on"), start)
	}
}

// shareOf is how many hits of one document stages leave, which run one after another; 0 where
// that is any number, or where others before leave few, or make other results of them.
func shareOf(branch, then []profile.Step) int {
	for _, step := range slices.Concat(branch, then) {
		switch stage := step.Stage.(type) {
		case rank.PerDocument:
			return stage.Max
		case rank.Aggregate:
			if stage.To == rank.ToDocument {
				return 1
			}
			return 0
		case rank.Lifter:
			return 0
		}
		if keeps(step.Stage) < math.MaxInt {
			return 0
		}
	}
	return 0
}

// without lets through what lies outside the documents of which there are most hits; nil when
// there are none.
func (r *run) without(hits sheaf.Ranking, most int) sheaf.Filter {
	in, count := sheaf.In{Column: sheaf.ColumnDoc}, map[sheaf.ID]int{}
	for i := range hits {
		doc := r.facts.Node(hits[i].ID).Doc
		if count[doc]++; count[doc] == most {
			in.Values = append(in.Values, sheaf.TextValue(string(doc)))
		}
	}
	if in.Values == nil {
		return nil
	}
	return sheaf.Not{Filter: in}
}

// add adds those of others to what was retrieved that are not there.
func (o *outcome) add(others sheaf.Ranking) {
	there := make(map[sheaf.ID]bool, len(o.ranking))
	for i := range o.ranking {
		there[o.ranking[i].ID] = true
	}
	o.ranking = slices.Clone(o.ranking) // what a store gave stays as it is
	for _, h := range others {
		if !there[h.ID] {
			o.ranking = append(o.ranking, h)
		}
	}
	o.ranking.Sort()
	o.places = store.Places{}
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
