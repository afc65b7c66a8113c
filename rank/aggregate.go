package rank

import (
	"cmp"
	"math"
	"slices"

	"sheaf"
)

// Level says whether an aggregation replaces a hit by its document or by its parent.
type Level uint8

// The levels of aggregation.
const (
	// ToDocument replaces every chunk by its document.
	ToDocument Level = iota
	// ToParent replaces every chunk by its parent; documents stay.
	ToParent
)

// Aggregate replaces hits by their documents or parents. Hits with the same target become one hit
// with the target's ID. These hits, best first, without the target, become its Constituents. In
// each leg it has their best rank, and its passage is the passage of the best hit. Chunks that the facts
// do not know are dropped.
//
// Of equal scores, the best rank in any leg comes first, then the best rank in the input, then the ID.
type Aggregate struct {
	To Level
	Scoring
}

// Apply implements [Stage].
func (a Aggregate) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("aggregate", in); err != nil {
		return nil, err
	}
	at := make(map[sheaf.ID]int, len(in)) // index in groups
	var groups []group
	for i := range in {
		n := env.Facts.Node(in[i].ID)
		if n == nil {
			continue
		}
		target := n.Doc
		if a.To == ToParent {
			target = cmp.Or(n.Parent, n.ID)
		}
		g, known := at[target]
		if !known {
			g = len(groups)
			at[target] = g
			groups = append(groups, group{id: target, first: i, lifted: true})
		}
		groups[g].hits = append(groups[g].hits, &in[i])
	}
	what := "document"
	if a.To == ToParent {
		what = "section"
	}
	return answers(groups, a.Scoring, what), nil
}

// group is the candidates that become one answer.
type group struct {
	id sheaf.ID
	// hits are the candidates. The answer itself may be a candidate.
	hits []*sheaf.Hit
	// first is the best index, from 0, of a candidate in the input.
	first int
	// lifted is false when the answer is an unchanged single hit.
	lifted bool
	// score is the score of the answer. best is the best rank of a candidate in any leg.
	score float64
	best  int
}

// answers creates one hit from each group, in order.
func answers(groups []group, s Scoring, what string) sheaf.Ranking {
	var scores []float64
	for i := range groups {
		g := &groups[i]
		g.score, g.best = g.hits[0].Score, bestRank(g.hits)
		if !g.lifted {
			continue
		}
		slices.SortStableFunc(g.hits, func(a, b *sheaf.Hit) int { return cmp.Compare(b.Score, a.Score) })
		scores = scores[:0]
		for _, h := range g.hits {
			scores = append(scores, h.Score)
		}
		g.score = s.Score(scores)
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.best, b.best), cmp.Compare(a.first, b.first),
			cmp.Compare(a.id, b.id))
	})
	out := make(sheaf.Ranking, len(groups))
	for i := range groups {
		g, h := &groups[i], &out[i]
		if !g.lifted {
			*h = *g.hits[0]
			continue
		}
		*h = sheaf.Hit{ID: g.id, Score: g.score, Passage: g.hits[0].Passage, Legs: bestLegs(g.hits)}
		h.Constituents = inside(g.id, g.hits)
		if slices.ContainsFunc(g.hits, func(h *sheaf.Hit) bool { return h.Explanation != nil }) {
			h.Explanation = s.explain(what, h.Score, g.hits)
		}
	}
	return out
}

// bestRank returns the best rank of any of hits in any leg, or the largest number without a rank.
func bestRank(hits []*sheaf.Hit) int {
	best := math.MaxInt
	for _, h := range hits {
		for _, leg := range h.Legs {
			if leg.Rank > 0 {
				best = min(best, leg.Rank)
			}
		}
	}
	return best
}

// inside returns the constituents of the answer with this ID: its candidates, then their
// constituents, in one list without duplicates and without the answer itself.
func inside(id sheaf.ID, hits []*sheaf.Hit) []sheaf.Hit {
	all := slices.Clone(hits)
	for _, h := range hits {
		for i := range h.Constituents {
			all = append(all, &h.Constituents[i])
		}
	}
	return distinct(id, all)
}

// bestLegs returns the best rank of any of hits in each leg, or nil when they have no legs.
func bestLegs(hits []*sheaf.Hit) []sheaf.Leg {
	var legs []sheaf.Leg
	for _, h := range hits {
		for len(legs) < len(h.Legs) {
			legs = append(legs, sheaf.Leg{})
		}
		for j, leg := range h.Legs {
			if leg.Rank > 0 && (legs[j].Rank == 0 || leg.Rank < legs[j].Rank) {
				legs[j] = leg
			}
		}
	}
	return legs
}
