package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sheaf"
	"sheaf/profile"
	"sheaf/store"
	"sheaf/text/chunk"
)

// everything matches every chunk. A query that has only filters uses it.
var everything = sheaf.Bool{}

// matches returns the request for all chunks that the query's words and filters match. The request scores like the
// plan's first branch by words, but in the fields of all branches by words.
func (r *run) matches(plan *profile.Plan) store.Request {
	req := store.Request{Filter: r.query.Filter, Limit: max(1, min(r.query.Limit, store.MaxLimit)),
		Text: &store.TextRequest{Query: r.query.Words, Fields: everyField, K1: store.DefaultK1, B: store.DefaultB}}
	first := true
	for i := range plan.Main.Branches {
		b := plan.Main.Branches[i].Text
		switch {
		case b == nil:
		case first:
			req.Text, first = textRequest(b, r.query.Words), false
		default:
			for _, f := range b.Fields {
				known := func(k store.FieldWeight) bool { return k.Name == f.Name }
				if !slices.ContainsFunc(req.Text.Fields, known) {
					req.Text.Fields = append(req.Text.Fields, store.FieldWeight{Name: f.Name, Weight: f.Weight})
				}
			}
		}
	}
	if r.query.Words == nil {
		req.Text.Query = everything
	}
	return req
}

// byColumn returns the matches of the query in the order of the column in Options.Order. No branch runs.
func (r *run) byColumn(ctx context.Context, plan *profile.Plan) (sheaf.Ranking, error) {
	sorter, ok := r.searcher.Backend.(store.Sorter)
	if !ok {
		return nil, fmt.Errorf("order by %s: the store cannot do that: %w", r.opt.Order.Column, sheaf.ErrUnsupported)
	}
	req := r.matches(plan)
	ranking, err := sorter.Sorted(ctx, req, *r.opt.Order)
	if err != nil {
		return nil, err
	}
	r.result.Total = len(ranking)
	if counter, ok := r.searcher.Backend.(store.Counter); ok {
		if r.result.Total, err = counter.Count(ctx, req); err != nil {
			return nil, err
		}
	}
	return r.dropUnknown(ranking), nil
}

func (r *run) count(ctx context.Context, plan *profile.Plan) error {
	faceter, ok := r.searcher.Backend.(store.Faceter)
	if !ok {
		return fmt.Errorf("facets: the store cannot count them: %w", sheaf.ErrUnsupported)
	}
	var err error
	r.result.Facets, err = facets(ctx, faceter, r.matches(plan), r.opt.Facets)
	return err
}

// facets counts the values of columns in the chunks that match req. The values are as documents write them.
func facets(ctx context.Context, f store.Faceter, req store.Request, columns []string) ([]store.Facet, error) {
	asked := slices.Clone(columns)
	for _, column := range columns {
		if name, is := strings.CutPrefix(column, sheaf.PropertyColumn("")); is {
			asked = append(asked, sheaf.WrittenColumn(name))
		}
	}
	all, err := f.Facets(ctx, req, asked, maxFacetValues)
	if err != nil {
		return nil, err
	}
	out, written := all[:len(columns)], all[len(columns):]
	for i := range out {
		if strings.HasPrefix(out[i].Column, sheaf.PropertyColumn("")) {
			out[i] = asWritten(out[i], written[0])
			written = written[1:]
		}
	}
	return out, nil
}

// asWritten returns the counts in facet, with numbers and dates in the spelling of the documents. facet counts a
// property's values in their usual spelling. written counts the unusual spellings, such as 12.10 for 12.1.
func asWritten(facet, written store.Facet) store.Facet {
	if len(written.Values) == 0 {
		return facet
	}
	counts := make(map[sheaf.Value]int, len(facet.Values)+len(written.Values))
	for _, v := range facet.Values {
		counts[v.Value] = v.Chunks
	}
	distinct := facet.Distinct
	for _, v := range written.Values {
		own := chunk.Compared(v.Value)
		usual := chunk.Plain(own)
		if counts[usual] -= v.Chunks; counts[usual] <= 0 {
			delete(counts, usual)
			distinct--
		}
		counts[own] += v.Chunks
		distinct++
	}
	out := store.NewFacet(facet.Column, counts, maxFacetValues)
	out.Distinct = max(distinct, len(out.Values))
	return out
}

// countMatches counts the matches of the query. All fields get weight 1, because stores count such a request fastest.
// If the store is unavailable or time runs out, the answer has a warning instead of a number.
func (r *run) countMatches(ctx context.Context) error {
	n := 0
	if r.query.Words != nil || r.opt.Order != nil {
		counter, ok := r.searcher.Backend.(store.Counter)
		if !ok {
			return fmt.Errorf("count: the store cannot do that: %w", sheaf.ErrUnsupported)
		}
		req := r.matches(r.followed)
		text := *AnyField(req.Text.Query)
		text.Fields = slices.Clone(req.Text.Fields)
		for i := range text.Fields {
			text.Fields[i].Weight = 1
		}
		req.Text = &text
		var err error
		n, err = counter.Count(ctx, req)
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sheaf.ErrUnavailable):
			r.result.Warn(fmt.Sprintf("the matches were not counted: %v", err), "the matches were not counted")
			return nil
		case err != nil:
			return err
		}
	}
	r.result.Matches = &n
	return nil
}

// maxFacetValues is the largest number of values that are counted per column.
const maxFacetValues = 100
