package search

import (
	"context"

	"sheaf/rank"
	"sheaf/text/analysis"
)

// named returns the function that compares names with the query, for the stage names. It is nil when the query
// has no words, or when the store cannot count them.
func (r *run) named(ctx context.Context) (func(name string) rank.NameMatch, error) {
	a := r.searcher.Analyzer
	if a == nil || r.query.Words == nil {
		return nil, nil
	}
	w, err := r.counted(ctx)
	if err != nil || w == nil || !(w.sum > 0) {
		return nil, err
	}
	worth := map[string]float64{} // by term
	for _, p := range w.parts {
		if tokens := a.QueryTokens(p.text); len(tokens) > 0 {
			worth[tokens[0].Term] += p.worth
		}
	}
	var begins [256]bool // by the first byte of a term
	for term := range worth {
		begins[term[0]] = true
	}
	seen := map[string]bool{}
	return func(name string) rank.NameMatch {
		if lacksAll(a, &begins, name) { // true for many names
			return rank.NameMatch{}
		}
		clear(seen)
		return matchName(a, name, a.QueryTokens(name), seen, worth, w.sum)
	}, nil
}

// lacksAll reports whether no word of a name has a term that begins as begins says, as far as the
// beginnings of the words tell.
func lacksAll(a *analysis.Analyzer, begins *[256]bool, name string) bool {
	lacks := true
	a.Words(name, func(start, end int) bool {
		first := a.Initial(name[start:end])
		lacks = first != 0 && !begins[first]
		return lacks
	})
	return lacks
}

// matchName compares the tokens of a name with the worth of the query's terms. Only content words count, that is
// words that are not function words; all words count when there are no content words. seen is an empty map.
func matchName(
	a *analysis.Analyzer, name string, tokens []analysis.Token,
	seen map[string]bool, worth map[string]float64, sum float64,
) rank.NameMatch {
	asked, words, said, content, contentSaid := 0.0, 0, 0, 0, 0
	for _, t := range tokens {
		if seen[t.Term] {
			continue
		}
		seen[t.Term] = true
		words++
		telling := !a.FunctionWord(name[t.Start:t.End])
		if telling {
			content++
		}
		if v := worth[t.Term]; v > 0 {
			asked += v
			said++
			if telling {
				contentSaid++
			}
		}
	}
	if content == 0 {
		content, contentSaid = words, said
	}
	if content == 0 {
		return rank.NameMatch{}
	}
	return rank.NameMatch{Asked: min(1, asked/sum), Said: float64(contentSaid) / float64(content)}
}
