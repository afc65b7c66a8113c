package search

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sheaf"
	"sheaf/backend"
	"sheaf/rank"
)

// maxWholeWords is how many words of a query are looked for in whole documents, and
// how many pairs of them: those that are worth most.
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
// of words, and with pairs, which of them stand side by side; nil when no branch
// searches words, or the store cannot count.
func (r *run) wordsIn(ctx context.Context, pairs bool) (func(chunks []sheaf.ID) ([]rank.Word, error), error) {
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
	var neighbors []neighbor
	if pairs && r.searcher.Analyzer != nil {
		neighbors = r.neighbors(parts)
	}
	return func(chunks []sheaf.ID) ([]rank.Word, error) {
		words, err := r.standing(ctx, parts, neighbors, chunks)
		if len(neighbors) > 0 && errors.Is(err, sheaf.ErrUnsupported) {
			r.note("%s cannot look for words side by side: each word counts by itself", r.searcher.storeName())
			words, err = r.standing(ctx, parts, nil, chunks)
		}
		return words, err
	}, nil
}

// standing looks for parts and pairs of the query in chunks; nil when time ran out.
// A store that answers many requests in one round trip gets them all; others look
// for pairs only where both words were found, which is few places.
func (r *run) standing(ctx context.Context, parts []valued, pairs []neighbor, chunks []sheaf.ID) ([]rank.Word, error) {
	words := make([]rank.Word, 0, len(parts)+len(pairs))
	for _, p := range parts {
		words = append(words, rank.Word{Text: p.text, Worth: p.worth, In: make([]float64, len(chunks))})
	}
	var looks []look
	for i, p := range parts {
		looks = append(looks, look{p, chunks, words[i].In})
	}
	places := rank.NewOrdinals(len(chunks))
	defer places.Release()
	for _, id := range chunks { // all different
		places.Add(id)
	}
	together := backend.Batches(r.searcher.Backend)
	if !together && len(pairs) > 0 {
		if ok, err := r.lookAll(ctx, looks, places); !ok || err != nil {
			return nil, err
		}
		looks = nil
	}
	for _, p := range pairs {
		in, where := make([]float64, len(chunks)), chunks
		words = append(words, rank.Word{Text: p.text, Worth: p.worth, Pair: true, In: in})
		if !together {
			where = nil
			for at, id := range chunks {
				if !slices.ContainsFunc(p.of, func(i int) bool { return words[i].In[at] <= 0 }) {
					where = append(where, id)
				}
			}
		}
		looks = append(looks, look{p.valued, where, in})
	}
	if ok, err := r.lookAll(ctx, looks, places); !ok || err != nil {
		return nil, err
	}
	return words, nil
}

// look is a part of the query that is looked for in some of the chunks, and how
// strongly it stands in each of all.
type look struct {
	part  valued
	where []sheaf.ID
	in    []float64
}

// lookAll looks for parts of the query in chunks, whose places in the looks are given;
// false when time ran out.
func (r *run) lookAll(ctx context.Context, looks []look, places *rank.Ordinals) (bool, error) {
	looks = slices.DeleteFunc(looks, func(l look) bool { return l.part.chunks == 0 || len(l.where) == 0 })
	reqs := make([]backend.Request, len(looks))
	for i, l := range looks {
		reqs[i] = r.alone(l.part.query, l.where)
	}
	found, err := backend.RetrieveAll(ctx, r.searcher.Backend, reqs)
	if ctx.Err() != nil {
		r.warn("time ran out before the query's words were looked for in whole documents: each place counts by itself")
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for i, hits := range found {
		for _, h := range hits {
			if at, ok := places.Of(h.ID); ok {
				looks[i].in[at] = h.Score / looks[i].part.idf
			}
		}
	}
	return true, nil
}

// neighbors are the pairs of words that stand side by side in the query, at least
// one of them among parts, function words included: "look up" is not "look". They
// are worth what those of their words are that are among parts, and none holds them
// when a word is nowhere.
func (r *run) neighbors(parts []valued) []neighbor {
	known := make(map[string]int, len(parts))
	for i := range parts {
		known[parts[i].text] = i
	}
	var pairs []neighbor
	seen := map[string]bool{}
	for _, text := range plain(r.query.Words) {
		for i, tokens := 1, r.searcher.Analyzer.QueryTokens(text); i < min(len(tokens), maxWorth); i++ {
			a, b := tokens[i-1], tokens[i]
			if b.Start < a.End { // a word and its parts, or characters that overlap
				continue
			}
			pair := neighbor{valued: valued{query: sheaf.Phrase{Text: text[a.Start:b.End]}, text: text[a.Start:b.End], chunks: 1}}
			for _, word := range [...]string{text[a.Start:a.End], text[b.Start:b.End]} {
				if p, ok := known[word]; ok {
					pair.of = append(pair.of, p)
					pair.worth += parts[p].idf
					pair.chunks = min(pair.chunks, parts[p].chunks)
				}
			}
			if pair.worth > 0 && !seen[pair.text] {
				seen[pair.text], pair.idf = true, pair.worth
				pairs = append(pairs, pair)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b neighbor) int { return cmp.Compare(b.worth, a.worth) })
	return pairs[:min(len(pairs), maxWholeWords)]
}

// neighbor is a pair of words; of are those of its words that are known, by their
// index among the parts.
type neighbor struct {
	valued
	of []int
}

// plain are the texts of a query of which any word may be found.
func plain(q sheaf.TextQuery) []string {
	switch q := q.(type) {
	case sheaf.Match:
		return []string{q.Text}
	case sheaf.Boost:
		return plain(q.Query)
	case sheaf.Bool:
		var texts []string
		for _, part := range slices.Concat(q.Must, q.Should) {
			texts = append(texts, plain(part)...)
		}
		return texts
	}
	return nil
}

// alone looks for one part of the query, as the branch of words does.
func (r *run) alone(q sheaf.TextQuery, chunks []sheaf.ID) backend.Request {
	req := *r.lookup
	text := *req.Text
	text.Query = q
	req.Text, req.Within, req.Limit = &text, chunks, len(chunks)
	return req
}
