package search

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/backend"
	"sheaf/rank"
)

const (
	// maxWholeWords is how many words of a query are looked for in whole
	// documents: those that are worth most.
	maxWholeWords = 8
	// wholeRequests is how many of them are asked for at once.
	wholeRequests = 4
)

// learnWords notes how the first branch of words looks for them.
func (r *run) learnWords(outcomes []outcome) {
	for i := range outcomes {
		if outcomes[i].request.Text != nil {
			r.lookup = &outcomes[i].request
			return
		}
	}
}

// wordsIn tells how the query's words stand in chunks, on the scale of the branch
// of words; nil when no branch searches words, or the store cannot count.
func (r *run) wordsIn(ctx context.Context) (func(chunks []sheaf.ID) ([]rank.Word, error), error) {
	if r.lookup == nil {
		return nil, nil
	}
	w, err := r.worth(ctx)
	if err != nil || w == nil {
		return nil, err
	}
	parts := slices.DeleteFunc(slices.Clone(w.parts), func(v valued) bool { return !(v.worth > 0 && v.idf > 0) })
	slices.SortStableFunc(parts, func(a, b valued) int { return cmp.Compare(b.worth, a.worth) })
	parts = parts[:min(len(parts), maxWholeWords)]
	return func(chunks []sheaf.ID) ([]rank.Word, error) {
		words := make([]rank.Word, len(parts))
		var group errgroup.Group
		group.SetLimit(wholeRequests)
		for i := range parts {
			words[i] = rank.Word{Text: parts[i].text, Worth: parts[i].worth, In: map[sheaf.ID]float64{}}
			group.Go(func() error {
				hits, err := r.searcher.Backend.Retrieve(ctx, r.alone(parts[i].query, chunks))
				for _, h := range hits {
					words[i].In[h.ID] = h.Score / parts[i].idf
				}
				return err
			})
		}
		err := group.Wait()
		if ctx.Err() != nil {
			r.warn("time ran out before the query's words were looked for in whole documents: each place counts by itself")
			return nil, nil
		}
		return words, err
	}, nil
}

// alone looks for one part of the query, as the branch of words does.
func (r *run) alone(q sheaf.TextQuery, chunks []sheaf.ID) backend.Request {
	req := *r.lookup
	text := *req.Text
	text.Query = q
	req.Text, req.Within, req.Limit = &text, chunks, len(chunks)
	return req
}
