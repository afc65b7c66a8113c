package rank

import (
	"cmp"
	"math"
	"slices"

	"sheaf"
)

// Level says what replaces a hit in Aggregate: its document or its parent.
type Level uint8

// These are the levels of aggregation.
const (
	// ToDocument replaces every chunk by its document.
	ToDocument Level = iota
	// ToParent replaces every chunk by its parent. A document stays, because it has no parent.
	ToParent
)

// Aggregate replaces each hit by its document or its parent, called the target. All hits with the same target become
// one hit with the ID of the target. Constituents of the new hit are the replaced hits, best first. If the target
// itself was a hit, Constituents leaves it out. In each leg (the ranking of one branch), the new hit has the best rank
// of the replaced hits. The new hit has the passage of the best replaced hit. Aggregate drops hits that Env.Facts does
// not know.
//
// Of hits with equal scores, the hit with the best rank in any leg comes first. Then the place in the input decides,
// then the ID.
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
	return groupHits(groups, a.Scoring, what), nil
}

// group has the hits of the input that become one hit of the output, called the answer.
type group struct {
	id sheaf.ID // of the answer
	// hits are the candidates of the group: hits of the input. A candidate may have the ID of the answer.
	hits []*sheaf.Hit
	// first is the smallest index of a candidate in the input, from 0.
	first int
	// lifted is false if the answer is a single hit that stays unchanged.
	lifted bool
	// score is the score of the answer. best is the best rank of the candidates in any leg.
	score float64
	best  int
}

// groupHits makes one hit from each group, and sorts the hits. s computes the score of a lifted group. what names the
// stage in explanations.
func groupHits(groups []group, s Scoring, what string) sheaf.Ranking {
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
			h.Explanation = new(s.explain(what, h.Score, g.hits))
		}
	}
	return out
}

// bestRank returns the best rank of the hits in any leg. If no hit has a rank, it returns math.MaxInt.
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

// inside returns the constituents of the answer called id: its hits, then the constituents of these hits. The list has
// no duplicates and does not contain the answer.
func inside(id sheaf.ID, hits []*sheaf.Hit) []sheaf.Hit {
	all := slices.Clone(hits)
	for _, h := range hits {
		for i := range h.Constituents {
			all = append(all, &h.Constituents[i])
		}
	}
	return distinct(id, all)
}

// bestLegs returns, for each leg, the best rank of the hits in this leg. If the hits have no legs, it returns nil.
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
