package rank

import (
	"sheaf"
)

// Pair is two words that stand side by side in the query.
type Pair struct {
	Text string
	// Worth is the idf of its content words together, above 0.
	Worth float64
	// In says for each of the chunks asked for whether the pair stands side by side in it,
	// in the order in which they were asked for.
	In []bool
}

// WordPairs raises hits in which words stand side by side as they do in the query.
// A hit gets
//
//	Strength x pairs
//	pairs = sum of the worth of the pairs that stand in the hit / sum of the worth of all pairs, in 0..1
//
// Each pair counts once in a hit. Only the hit itself is looked at, not its document.
//
// Example, Strength 0.3: of the pairs "undo a" (worth 2), "a commit" (worth 3), the hit
// has the second: 0.3 x 3/5 = 0.18.
//
// Source: the ordered windows of the sequential dependence model (Metzler and Croft
// 2005), with idf in place of a language model.
type WordPairs struct {
	Strength float64 // 0..1e6
	Hits     int     // how many hits are looked at, best first; at least 1
}

// Apply implements [Stage]. Without [Env.Pairs] the ranking stays as it is.
func (w WordPairs) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) { return alone(w, in, env) }

func (w WordPairs) work(r *Row, env Env) error {
	const stage = "word pairs"
	if err := firstError(within(stage, "strength", w.Strength, 0, 1e6), within(stage, "hits", float64(w.Hits), 1, 1e6), r.valid(stage)); err != nil {
		return err
	}
	if env.Pairs == nil || w.Strength == 0 {
		return nil
	}
	keys := r.inOrder()
	keys = keys[:min(len(keys), w.Hits)]
	ids, place := make([]sheaf.ID, len(keys)), make(map[sheaf.ID]int, len(keys))
	for i, k := range keys {
		ids[i] = r.hits[k.at].ID
		place[ids[i]] = i
	}
	pairs, err := env.Pairs(ids)
	if err != nil {
		return err
	}
	total := 0.0
	for i := range pairs {
		total += pairs[i].Worth
	}
	if total == 0 {
		return nil
	}
	return r.add(stage, nil, func(h *sheaf.Hit, _ *sheaf.Node) (a addition) {
		at, ok := place[h.ID]
		if !ok {
			return a
		}
		held := 0.0
		for i := range pairs {
			if pairs[i].In[at] {
				held += pairs[i].Worth
			}
		}
		if a.add(r, w.Strength*held/total) {
			var parts []sheaf.Explanation
			for i := range pairs {
				if pairs[i].In[at] {
					parts = append(parts, part(quoted(pairs[i].Text), pairs[i].Worth))
				}
			}
			a.parts = []sheaf.Explanation{combined("words side by side", a.value, sheaf.CombineProduct, part("strength", w.Strength),
				combined("share of the query's pairs", held/total, sheaf.CombineQuotient,
					combined("pairs in the hit", held, sheaf.CombineSum, parts...), part("all pairs", total)))}
		}
		return a
	})
}
