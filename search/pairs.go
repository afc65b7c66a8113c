package search

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sheaf"
	"sheaf/rank"
	"sheaf/store"
	"sheaf/text/analysis"
)

// maxPairs limits how many pairs of neighboring words the search looks for. The search prefers pairs with rare words.
// fewPairs is the limit for a store that answers one request at a time.
const (
	maxPairs = 64
	fewPairs = 8
)

// pair is two neighboring words of the query.
type pair struct {
	text  string
	worth float64 // the sum of the idf of its words
	// overlap says that the two words share characters, as terms of a script without spaces do. A chunk with both words
	// then always has the pair, so the pair does not count.
	overlap bool
}

// pairsIn returns the function with which the stage "word_pairs" finds pairs of the query's words in chunks. If no
// branch searches words, or the store cannot count them, the function is nil.
func (r *run) pairsIn(ctx context.Context) (func(chunks []sheaf.ID) ([]rank.Pair, error), error) {
	if r.lookup == nil || r.searcher.Analyzer == nil {
		return nil, nil
	}
	w, err := r.worthInTime(ctx)
	if err != nil || w == nil {
		return nil, err
	}
	pairs := r.pairs(w)
	if !slices.ContainsFunc(pairs, func(p pair) bool { return !p.overlap }) {
		return nil, nil
	}
	return func(chunks []sheaf.ID) ([]rank.Pair, error) {
		found, err := r.findPairs(ctx, pairs, chunks)
		switch {
		case canceled(ctx) != nil:
			return nil, ctx.Err()
		case ctx.Err() != nil:
			r.warn("timed out before words side by side were looked for; they do not count")
			return nil, nil
		case errors.Is(err, sheaf.ErrUnsupported):
			r.note("%s cannot look for words side by side; they do not count", r.searcher.storeName())
			return nil, nil
		}
		return found, err
	}, nil
}

// pairs returns the pairs of neighboring words of the query, each once. Pairs include function words: "look up" is not
// "look". pairs omits a pair if no chunk has the first word and no chunk has the second. The worth of a pair is the sum
// of the idf of its words that chunks have.
func (r *run) pairs(w *idfWorth) []pair {
	idf := map[string]float64{}
	for _, p := range w.parts {
		if p.worth > 0 && p.chunks > 0 {
			idf[p.text] = p.idf
		}
	}
	var pairs []pair
	add := func(text string, tokens []analysis.Token) {
		for i := 1; i < min(len(tokens), maxWorth); i++ {
			a, b := tokens[i-1], tokens[i]
			if b.Start <= a.Start || b.End <= a.End { // a word and its parts
				continue
			}
			worth := idf[text[a.Start:a.End]] + idf[text[b.Start:b.End]]
			p := pair{text: text[a.Start:b.End], worth: worth, overlap: b.Start < a.End}
			if p.worth > 0 && !slices.ContainsFunc(pairs, func(other pair) bool { return other.text == p.text }) {
				pairs = append(pairs, p)
			}
		}
	}
	for part := range sheaf.Wanted(r.query.Words) {
		text := ""
		switch part := part.(type) {
		case sheaf.Match:
			text = part.Text
		case sheaf.Phrase:
			text = part.Text
		}
		add(text, r.searcher.Analyzer.PhraseTokens(text))
		r.searcher.Analyzer.Words(text, func(start, end int) bool { // the parts of a compound are pairs, too
			add(text[start:end], r.searcher.Analyzer.QueryTokens(text[start:end]))
			return true
		})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.worth, a.worth) })
	most := maxPairs
	if _, scores := r.searcher.Backend.(store.Scorer); !scores && !store.Batches(r.searcher.Backend) {
		most = fewPairs
	}
	return pairs[:min(len(pairs), most)]
}

// findPairs returns a rank.Pair for each pair, in order. Each rank.Pair tells which of the given chunks have the pair.
// The IDs in chunks must be distinct.
func (r *run) findPairs(ctx context.Context, pairs []pair, chunks []sheaf.ID) ([]rank.Pair, error) {
	found := make([]rank.Pair, len(pairs))
	reqs, of := make([]store.Request, 0, len(pairs)), make([]int, 0, len(pairs))
	for i, p := range pairs {
		found[i] = rank.Pair{Text: p.text, Worth: p.worth, In: make([]bool, len(chunks))}
		if !p.overlap {
			text := *r.lookup.Text
			text.Query, text.Combine = sheaf.Phrase{Text: p.text}, store.CombineSum // only a match counts, not its score
			reqs = append(reqs, store.Request{Text: &text, Filter: r.lookup.Filter})
			of = append(of, i)
		}
	}
	if scorer, ok := r.searcher.Backend.(store.Scorer); ok {
		scores, err := scorer.Scores(ctx, reqs, chunks)
		if err == nil {
			for i := range scores {
				for k, score := range scores[i] {
					found[of[i]].In[k] = score > 0
				}
			}
			return found, nil
		}
		if !errors.Is(err, sheaf.ErrUnsupported) {
			return nil, err
		}
	}
	within := slices.Clone(chunks) // a store may read the slice after this search ends
	at := make(map[sheaf.ID]int, len(chunks))
	for k, id := range within {
		at[id] = k
	}
	for i := range reqs {
		reqs[i].Within, reqs[i].Limit = within, len(within)
	}
	rankings, err := store.RetrieveAll(ctx, r.searcher.Backend, reqs)
	if err != nil {
		return nil, err
	}
	for i, ranking := range rankings {
		for k := range ranking {
			if place, ok := at[ranking[k].ID]; ok {
				found[of[i]].In[place] = true
			}
		}
	}
	return found, nil
}
