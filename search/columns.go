package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/backend"
	"sheaf/profile"
)

// everything is what a query without words matches: filters decide.
var everything = sheaf.Bool{}

// matches is the request for all that the query's words and filters match, scored
// as the plan's first branch by words does.
func (r *run) matches(plan *profile.Plan) backend.Request {
	req := backend.Request{Filter: r.query.Filter, Limit: max(1, min(r.query.Limit, backend.MaxLimit)),
		Text: &backend.TextRequest{Query: r.query.Words, Fields: everyField, K1: backend.DefaultK1, B: backend.DefaultB}}
	for i := range plan.Main.Branches {
		if b := plan.Main.Branches[i].Text; b != nil {
			req.Text = textRequest(b, r.query.Words)
			break
		}
	}
	if r.query.Words == nil {
		req.Text.Query = everything
	}
	return req
}

// columnRandom begins the column of an order that is drawn; its seed follows.
const columnRandom = "random:"

// RandomOrder is the order that a seed draws, for Options.Order.
func RandomOrder(seed uint64) *backend.Order {
	return &backend.Order{Column: columnRandom + strconv.FormatUint(seed, 10)}
}

// ReadRandomOrder reads "random", which draws a seed, and "random:7"; ok is false for
// anything else.
func ReadRandomOrder(text string) (order *backend.Order, ok bool) {
	if text == strings.TrimSuffix(columnRandom, ":") {
		return RandomOrder(uint64(rand.Uint32())), true
	}
	seed, ok := strings.CutPrefix(text, columnRandom)
	n, err := strconv.ParseUint(seed, 10, 64)
	return RandomOrder(n), ok && err == nil
}

// drawn finds some of what a query matches, as the seed of its order says: the same
// for the same seed while nothing changes.
func (r *run) drawn(ctx context.Context, req backend.Request) (sheaf.Ranking, error) {
	want := req.Limit
	req.Limit = backend.MaxLimit
	ranking, err := r.searcher.Backend.Retrieve(ctx, req)
	if err != nil {
		return nil, err
	}
	column := r.opt.Order.Column
	seed, err := strconv.ParseUint(strings.TrimPrefix(column, columnRandom), 10, 64)
	if err != nil {
		return nil, sheaf.Invalidf("order %q: want random:SEED, a whole number", column)
	}
	slices.SortFunc(ranking, func(a, b sheaf.Hit) int { return strings.Compare(string(a.ID), string(b.ID)) })
	random := rand.New(rand.NewPCG(seed, seed))
	random.Shuffle(len(ranking), func(i, j int) { ranking[i], ranking[j] = ranking[j], ranking[i] })
	r.result.Total = len(ranking)
	r.note("drawn at random from %d: %s draws the same", len(ranking), column)
	return r.known(ranking[:min(want, len(ranking))]), nil
}

// ordered finds what the query matches in the order of a column, or one that is drawn;
// no branch runs.
func (r *run) ordered(ctx context.Context, plan *profile.Plan) (sheaf.Ranking, error) {
	if strings.HasPrefix(r.opt.Order.Column, columnRandom) {
		return r.drawn(ctx, r.matches(plan))
	}
	sorter, ok := r.searcher.Backend.(backend.Sorter)
	if !ok {
		return nil, fmt.Errorf("order by %s: the store cannot do that: %w", r.opt.Order.Column, sheaf.ErrUnsupported)
	}
	req := r.matches(plan)
	ranking, err := sorter.Sorted(ctx, req, *r.opt.Order)
	if err != nil {
		return nil, err
	}
	r.result.Total = len(ranking)
	if counter, ok := r.searcher.Backend.(backend.Counter); ok {
		if r.result.Total, err = counter.Count(ctx, req); err != nil {
			return nil, err
		}
	}
	return r.known(ranking), nil
}

// count counts what the query matches by the columns that were asked for.
func (r *run) count(ctx context.Context, plan *profile.Plan) error {
	if len(r.opt.Facets) == 0 {
		return nil
	}
	faceter, ok := r.searcher.Backend.(backend.Faceter)
	if !ok {
		return fmt.Errorf("facets: the store cannot count them: %w", sheaf.ErrUnsupported)
	}
	var err error
	r.result.Facets, err = faceter.Facets(ctx, r.matches(plan), r.opt.Facets, maxFacetValues)
	return err
}

// maxFacetValues is the most values of a column that are counted out.
const maxFacetValues = 100
