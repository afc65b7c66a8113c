package search

import (
	"context"
	"errors"
	"slices"

	"sheaf"
	"sheaf/analysis"
	"sheaf/backend"
)

// A word is rare when at most rareChunks chunks hold it, or a share of rareShare
// of a large collection; a word that none holds is a slip or a word of another
// text, and says nothing.
const (
	rareChunks = 5
	rareShare  = 0.001
	// maxRare bounds how many hits are looked at, maxGuarded how many words
	// a query may have for its rare ones to mean something.
	maxRare    = 200
	maxGuarded = 32
	// rareWorth is the share of what the query is worth, the sum of the idf
	// of its words, that its rare words must be. One rare word in a long
	// question says too little of what is asked.
	rareWorth = 0.5
)

// frequencies counts the chunks that each of queries matches, which are words, in any
// field; it asks only for words that were not counted for what the query is worth, or for its
// vector.
func (r *run) frequencies(ctx context.Context, counter backend.Counter, queries []sheaf.TextQuery) ([]int, error) {
	dfs := make([]int, len(queries))
	var left []sheaf.TextQuery
	var at []int
	for i, q := range queries {
		known := -1
		if r.worthy != nil {
			known = slices.IndexFunc(r.worthy.parts, func(p valued) bool { return p.query == q })
		}
		if known >= 0 {
			dfs[i] = r.worthy.parts[known].chunks
		} else if n, ok := r.tallied.of(q); ok {
			dfs[i] = n
		} else {
			left, at = append(left, q), append(at, i)
		}
	}
	if len(left) == 0 {
		return dfs, nil
	}
	counts, err := frequencies(ctx, counter, left)
	for k, n := range counts {
		dfs[at[k]] = n
	}
	return dfs, err
}

// rare tells whether a chunk holds every rare word of the query, in any field; nil
// when the query is not mainly made of such words, and, with a note, when the store
// cannot count or find them.
func (r *run) rare(ctx context.Context) (func(sheaf.ID) bool, error) {
	if r.searcher.Analyzer == nil || r.query.Words == nil {
		return nil, nil
	}
	text := meaning(r.query)
	_, tokens := r.tokens(text)
	if len(tokens) > maxGuarded {
		return nil, nil
	}
	missing := func(what string) (func(sheaf.ID) bool, error) {
		r.note("%s cannot %s words of this query: what holds its rare words is not kept in sight (stage guard)", r.searcher.storeName(), what)
		return nil, nil
	}
	counter, ok := r.searcher.Backend.(backend.Counter)
	if !ok {
		return missing("count the")
	}
	all, err := r.rareWords(ctx, counter, text, tokens)
	switch {
	case errors.Is(err, sheaf.ErrUnsupported):
		return missing("count the")
	case err != nil || len(all.Must) == 0:
		return nil, err
	}
	found, err := r.searcher.Backend.Retrieve(ctx, backend.Request{Filter: r.query.Filter, Limit: maxRare,
		Text: &backend.TextRequest{Query: all, Fields: everyField, K1: backend.DefaultK1, B: backend.DefaultB}})
	switch {
	case errors.Is(err, sheaf.ErrUnsupported):
		return missing("find the rare")
	case err != nil:
		return nil, err
	}
	holds := make(map[sheaf.ID]bool, len(found))
	for _, h := range found {
		holds[h.ID] = true
	}
	return func(id sheaf.ID) bool { return holds[id] }, nil
}

// rareWords asks for all rare words among the tokens of a text; for none when the
// text is not mainly made of them.
func (r *run) rareWords(ctx context.Context, counter backend.Counter, text string, tokens []analysis.Token) (sheaf.Bool, error) {
	chunks, err := r.chunks(ctx, counter)
	if err != nil {
		return sheaf.Bool{}, err
	}
	queries := make([]sheaf.TextQuery, len(tokens))
	for i, t := range tokens {
		queries[i] = sheaf.Match{Text: text[t.Start:t.End]}
	}
	dfs, err := r.frequencies(ctx, counter, queries)
	if err != nil {
		return sheaf.Bool{}, err
	}
	limit := max(rareChunks, int(rareShare*float64(chunks)))
	all := sheaf.Bool{}
	worth, rareOnly := 0.0, 0.0
	for i, df := range dfs {
		rarity := idf(df, chunks)
		worth += rarity
		if df > 0 && df <= limit && df <= max(1, (chunks-1)/2) {
			all.Must = append(all.Must, queries[i])
			rareOnly += rarity
		}
	}
	if rareOnly < rareWorth*worth {
		return sheaf.Bool{}, nil
	}
	return all, nil
}
