package rank

import (
	"fmt"

	"sheaf"
)

// RRF is reciprocal rank fusion. The score of a hit is the sum of weight/(K + rank) over the legs, with ranks from 1. A
// leg without the hit adds 0. Only ranks count, so legs may have scores of different scales.
//
// Example, K 60, legs (A, B, C) and (B, D, A): B has 1/62 + 1/61, A 1/61 + 1/63.
//
// Source: Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods
// (SIGIR 2009), without weights. The weights are as in Elasticsearch and Onyx.
type RRF struct {
	// K is 1..1000. The smaller K is, the more the first ranks count.
	K int
	// Repeats says what happens if a leg has the same ID several times. With Repeats, each occurrence adds to the score
	// by its own rank. Without Repeats, only the best rank counts, and later hits move up.
	Repeats bool
	// Unit divides all scores by the largest possible score. A hit that is first in every leg then has score 1.
	Unit bool
}

// These are limits of [RRF.K].
const (
	MinRRFK = 1
	MaxRRFK = 1000
)

// Fuse implements [Fusion].
func (f RRF) Fuse(legs []Leg) (sheaf.Ranking, error) {
	if f.K < MinRRFK {
		return nil, sheaf.Invalidf("rrf: k is %d: must be at least %d", f.K, MinRRFK)
	}
	if f.K > MaxRRFK {
		return nil, sheaf.Invalidf("rrf: k is %d: must not exceed %d", f.K, MaxRRFK)
	}
	total, err := totalWeight("rrf", legs)
	if err != nil {
		return nil, err
	}
	u, err := unite("rrf", legs)
	if err != nil {
		return nil, err
	}
	for i := range u.hits {
		h := &u.hits[i]
		for j := range h.Legs {
			if rank := h.Legs[j].Rank; rank > 0 && !f.Repeats {
				h.Score += f.term(&legs[j], rank)
			}
		}
	}
	for j := 0; j < len(legs) && f.Repeats; j++ {
		for k := range legs[j].Hits {
			u.hits[u.at[legs[j].Hits[k].ID]].Score += f.term(&legs[j], k+1)
		}
	}
	best := total / float64(f.K+1)
	for i := 0; i < len(u.hits) && f.Unit; i++ {
		u.hits[i].Score /= best
	}
	return u.ranking(func(i int) sheaf.Explanation { return f.explain(u, i, best) }), nil
}

// term returns what a hit with this rank in a leg adds to its score.
func (f RRF) term(leg *Leg, rank int) float64 { return leg.Weight / float64(f.K+rank) }

func (f RRF) explain(u *union, i int, best float64) sheaf.Explanation {
	h := &u.hits[i]
	sum := combined(fmt.Sprintf("reciprocal ranks, k %d", f.K), 0, sheaf.CombineSum)
	add := func(j, rank int) {
		leg, place := &u.legs[j], part("rank in "+u.legs[j].Name, float64(rank))
		if s := u.source(i, j); s != nil && s.Explanation != nil {
			place.Parts = []sheaf.Explanation{*s.Explanation}
		}
		under := combined("k + rank", float64(f.K+rank), sheaf.CombineSum, part("k", float64(f.K)), place)
		term := combined(leg.Name, f.term(leg, rank), sheaf.CombineQuotient, part("weight of "+leg.Name, leg.Weight), under)
		sum.Parts = append(sum.Parts, term)
		sum.Value += term.Value
	}
	for j := range u.legs {
		if rank := h.Legs[j].Rank; rank > 0 && !f.Repeats {
			add(j, rank)
		}
		for k := 0; k < len(u.legs[j].Hits) && f.Repeats; k++ {
			if u.legs[j].Hits[k].ID == h.ID {
				add(j, k+1)
			}
		}
	}
	if len(sum.Parts) == 0 {
		sum = part(onlyWeightZero, 0)
	}
	if f.Unit {
		sum = combined("share of the largest possible", h.Score, sheaf.CombineQuotient, sum,
			part("first in every leg", best))
	}
	return sum
}
