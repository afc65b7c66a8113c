package rank

import (
	"cmp"
	"math"
	"slices"

	"sheaf"
)

// Leg is the ranking of one branch, as an input of a fusion.
type Leg struct {
	// Name is the name of the branch and its store. Errors and explanations show it.
	Name string
	Hits sheaf.Ranking
	// Weight is how much the leg counts, 0 or more. A hit that only legs of weight 0 found comes after all other hits.
	// NormLinear is an exception: such a hit gets the score 0 in the other legs. Hit.Legs has no ranks of legs of weight
	// 0, so these ranks break no ties.
	Weight float64
}

// Fusion joins the rankings of several branches into one ranking.
type Fusion interface {
	// Fuse returns every hit of every leg once:
	//   - The field Legs of a hit has its rank and its raw score in each leg.
	//   - The field Constituents of a hit joins its constituents from all legs. It takes one from each leg in turn, and
	//     begins with the leg of the hit's best rank.
	//
	// Fuse returns sheaf.ErrInvalid for a score that is not finite, and names the leg. It also returns sheaf.ErrInvalid
	// if a weight is negative or if the sum of the weights is 0. Without legs, it returns an empty ranking.
	Fuse(legs []Leg) (sheaf.Ranking, error)
}

// onlyWeightZero explains the score of a hit that no leg with a weight above 0 found.
const onlyWeightZero = "found only by legs of weight 0"

// totalWeight returns the sum of the weights of legs, or an error for an invalid weight.
func totalWeight(stage string, legs []Leg) (float64, error) {
	var total float64
	for i := range legs {
		w := legs[i].Weight
		if !(w >= 0) || math.IsInf(w, 0) {
			return 0, sheaf.Invalidf("%s: weight of %s is %v: must be a finite number, 0 or more", stage, legs[i].Name, w)
		}
		total += w
	}
	if total == 0 && len(legs) > 0 {
		return 0, sheaf.Invalidf("%s: the weights of all legs are 0: at least one must be above 0", stage)
	}
	return total, nil
}

// union has the hits of several legs, each hit once.
type union struct {
	legs []Leg
	// hits lists the hits in the order in which they first appear. They have Legs, but no scores yet.
	hits sheaf.Ranking
	at   map[sheaf.ID]int // index in hits
	// sources[i*len(legs)+j] is hits[i] as it is in leg j. It is nil if leg j lacks the hit or has weight 0.
	sources []*sheaf.Hit
	explain bool // some hits have explanations
}

// unite collects the hits of legs into a union.
func unite(stage string, legs []Leg) (*union, error) {
	n, longest, width := 0, 0, len(legs)
	for j := range legs {
		if err := legs[j].Hits.Valid(stage + ": leg " + legs[j].Name); err != nil {
			return nil, err
		}
		n, longest = n+len(legs[j].Hits), max(longest, len(legs[j].Hits)) // legs often share most hits
	}
	u := &union{legs: legs, hits: make(sheaf.Ranking, 0, longest), at: make(map[sheaf.ID]int, longest)}
	u.sources = make([]*sheaf.Hit, n*width)
	places := make([]sheaf.Leg, n*width)
	last := make([]int, n) // by hit: the last leg, from 1, that has it
	for j := range legs {
		rank := 0
		for k := range legs[j].Hits {
			h := &legs[j].Hits[k]
			u.explain = u.explain || h.Explanation != nil
			i, known := u.at[h.ID]
			if !known {
				i = len(u.hits)
				u.at[h.ID] = i
				u.hits = append(u.hits, sheaf.Hit{ID: h.ID, Legs: places[i*width : (i+1)*width : (i+1)*width]})
			}
			if last[i] == j+1 {
				continue // a repeated ID keeps its best rank and takes no rank from later hits
			}
			last[i] = j + 1
			if rank++; legs[j].Weight == 0 {
				continue
			}
			u.sources[i*width+j] = h
			u.hits[i].Legs[j] = sheaf.Leg{Rank: rank, Score: h.Score}
			if u.hits[i].Passage == 0 {
				u.hits[i].Passage = h.Passage
			}
		}
	}
	return u, nil
}

// source returns hit number i as it is in leg j. It returns nil if leg j lacks the hit or has weight 0.
func (u *union) source(i, j int) *sheaf.Hit { return u.sources[i*len(u.legs)+j] }

// counts reports whether a leg with a weight above 0 has hit number i.
func (u *union) counts(i int) bool {
	return slices.ContainsFunc(u.hits[i].Legs, func(leg sheaf.Leg) bool { return leg.Rank > 0 })
}

// ranking sets the constituents and explanations of the hits, sorts the hits by score and returns them. The function
// explain explains hit number i.
func (u *union) ranking(explain func(i int) sheaf.Explanation) sheaf.Ranking {
	for i := range u.hits {
		if u.explain {
			u.hits[i].Explanation = new(explain(i))
		}
		u.hits[i].Constituents = u.constituents(i)
	}
	u.hits.Sort()
	return u.hits
}

// constituents joins the constituents that hit number i has in its legs. It takes one from each leg in turn, beginning
// with the leg of the best rank.
func (u *union) constituents(i int) []sheaf.Hit {
	var from []int // indexes of legs
	longest := 0
	for j := range u.legs {
		if h := u.source(i, j); h != nil && len(h.Constituents) > 0 {
			from = append(from, j)
			longest = max(longest, len(h.Constituents))
		}
	}
	slices.SortStableFunc(from, func(a, b int) int {
		return cmp.Compare(u.hits[i].Legs[a].Rank, u.hits[i].Legs[b].Rank)
	})
	var all []*sheaf.Hit
	for n := range longest {
		for _, j := range from {
			if inside := u.source(i, j).Constituents; n < len(inside) {
				all = append(all, &inside[n])
			}
		}
	}
	return distinct(u.hits[i].ID, all)
}

// distinct copies hits without their constituents. It drops hits with a repeated ID and hits with the ID id. If no hit
// is left, it returns nil.
func distinct(id sheaf.ID, hits []*sheaf.Hit) []sheaf.Hit {
	var out []sheaf.Hit
	seen := make(map[sheaf.ID]bool, len(hits))
	for _, h := range hits {
		if h.ID == id || seen[h.ID] {
			continue
		}
		seen[h.ID] = true
		out = append(out, *h)
		out[len(out)-1].Constituents = nil
	}
	return out
}

// MaxLegs returns leg a together with the hits of leg b. If both legs have a hit, the hit gets the larger score. A
// profile uses MaxLegs if only the better of two signals counts, such as the similarity of title or content.
func MaxLegs(a, b Leg) Leg {
	out := Leg{Name: a.Name, Weight: a.Weight, Hits: make(sheaf.Ranking, 0, len(a.Hits)+len(b.Hits))}
	at := make(map[sheaf.ID]int, len(a.Hits))
	for _, hits := range []sheaf.Ranking{a.Hits, b.Hits} {
		for i := range hits {
			h := &hits[i]
			k, known := at[h.ID]
			switch {
			case !known:
				at[h.ID] = len(out.Hits)
				out.Hits = append(out.Hits, *h)
			case h.Score > out.Hits[k].Score:
				out.Hits[k] = *h
			}
		}
	}
	out.Hits.Sort()
	return out
}
