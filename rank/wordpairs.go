package rank

import (
	"strconv"
	"strings"

	"sheaf"
)

// Pair is a pair of neighboring words in the query.
type Pair struct {
	Text string
	// Worth is the sum of the idf of the pair's content words. It is above 0.
	Worth float64
	// In says for each requested chunk, in order, whether the chunk has the two words side by side.
	In []bool
}

// WordPairs raises a hit in which neighboring words of the query are side by side. It adds to the score of a hit
//
//	Strength * pairs
//	pairs = sum of the worth of the pairs in the hit / sum of the worth of all pairs, in 0..1
//
// A pair counts once in a hit. WordPairs reads only the hit, not the rest of its document.
//
// Example, Strength 0.3: with "a commit" (worth 3) but without "undo a" (worth 2), a hit gets 0.3 * 3/5.
//
// Source: the sequential dependence model's ordered windows (Metzler and Croft 2005), with idf instead of a language
// model.
type WordPairs struct {
	Strength float64 // 0..1e6
	Hits     int     // how many hits are read, best first; at least 1
}

// Apply implements [Stage]. Without [Env.Pairs] it does not change the ranking.
func (w WordPairs) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "word pairs"
	if err := in.Valid(stage); err != nil || len(in) == 0 || env.Pairs == nil || w.Strength == 0 {
		return in, err
	}
	ids := make([]sheaf.ID, min(len(in), w.Hits))
	place := make(map[sheaf.ID]int, len(ids))
	for i := range ids {
		ids[i] = in[i].ID
		place[ids[i]] = i
	}
	pairs, err := env.Pairs(ids)
	if err != nil {
		return nil, err
	}
	total := 0.0
	for i := range pairs {
		total += pairs[i].Worth
	}
	if total == 0 {
		return in, nil
	}
	return addEach(stage, in, func(h *sheaf.Hit, s *sum) {
		at, ok := place[h.ID]
		if !ok {
			return
		}
		held := 0.0
		for i := range pairs {
			if pairs[i].In[at] {
				held += pairs[i].Worth
			}
		}
		value := w.Strength * held / total
		s.add(value, func() sheaf.Explanation {
			var parts []sheaf.Explanation
			var texts []string
			for i := range pairs {
				if pairs[i].In[at] {
					parts = append(parts, part(strconv.Quote(pairs[i].Text), pairs[i].Worth))
					texts = append(texts, pairs[i].Text)
				}
			}
			share := combined("share of the query's pairs", held/total, sheaf.CombineQuotient,
				combined("pairs in the hit", held, sheaf.CombineSum, parts...), part("all pairs", total))
			e := combined("words side by side", value, sheaf.CombineProduct, part("strength", w.Strength), share)
			return called(e, sheaf.KindPairs, map[string]sheaf.Value{"pairs": sheaf.TextValue(strings.Join(texts, ", "))})
		})
	})
}
