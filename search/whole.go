package search

import (
	"cmp"
	"context"
	"slices"

	"sheaf"
	"sheaf/backend"
	"sheaf/rank"
)

// maxWholeWords is how many words of a query are looked for in whole documents:
// those that are worth most.
const maxWholeWords = 8

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
		var reqs []backend.Request
		var asked []int // the word of each request
		for i, p := range parts {
			words[i] = rank.Word{Text: p.text, Worth: p.worth, In: make([]float64, len(chunks))}
			if p.chunks > 0 {
				reqs, asked = append(reqs, r.alone(p.query, chunks)), append(asked, i)
			}
		}
		found, err := backend.RetrieveAll(ctx, r.searcher.Backend, reqs)
		if ctx.Err() != nil {
			r.warn("time ran out before the query's words were looked for in whole documents: each place counts by itself")
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		places := make(map[sheaf.ID]int, len(chunks))
		for at, id := range chunks {
			places[id] = at
		}
		for k, hits := range found {
			for _, h := range hits {
				if at, ok := places[h.ID]; ok {
					words[asked[k]].In[at] = h.Score / parts[asked[k]].idf
				}
			}
		}
		return words, nil
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
