package rank

import (
	"slices"

	"sheaf"
)

// ReadingOrder sorts hits of the same document by their position in the document if their scores are nearly equal. It
// cuts the ranking into groups of neighbors. The scores of a group are at most Within below its first score. Inside a
// group, hits of the same document exchange places, and each place keeps its score.
//
// Example, Within 0.01: a#3 0.500, b#0 0.498, a#1 0.495, a#2 0.3 becomes a#1 0.500, b#0 0.498, a#3 0.495, a#2 0.3.
//
// Source: the tiered search specification, chunk sequence preservation.
type ReadingOrder struct{ Within float64 } // at least 0

// Apply implements [Stage].
func (o ReadingOrder) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("reading_order", in); err != nil {
		return nil, err
	}
	out := slices.Clone(in)
	for from := 0; from < len(out); {
		to := from + 1
		for to < len(out) && in[to].Score >= in[from].Score-o.Within {
			to++
		}
		readingOrder(out[from:to], env.Facts)
		from = to
	}
	return out, nil
}

// readingOrder sorts hits of the same document by position, in place. All hits must have nearly equal scores.
func readingOrder(hits sheaf.Ranking, facts Facts) {
	places := map[sheaf.ID][]int{}
	positions := make([]int, len(hits))
	for i := range hits {
		if c, ok := facts.Chunk(hits[i].ID); ok {
			positions[i] = c.Position
			places[c.Doc] = append(places[c.Doc], i)
		}
	}
	before := slices.Clone(hits)
	for _, at := range places {
		ordered := slices.SortedStableFunc(slices.Values(at), func(a, b int) int { return positions[a] - positions[b] })
		for i, place := range at {
			h, score := before[ordered[i]], before[place].Score
			if score != h.Score && h.Explanation != nil {
				h.Explanation = new(combined("in the order of its document", score, sheaf.CombineSum, *h.Explanation,
					called(part("to stand there", score-h.Score), sheaf.KindInOrder, nil)))
			}
			h.Score = score
			hits[place] = h
		}
	}
}
