package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"sheaf"
)

// Leg is the ranking of one branch on its way into a fusion.
type Leg struct {
	// Name names the branch and its store in errors and explanations.
	Name string
	Hits sheaf.Ranking
	// Weight is how much the leg counts, 0 or more. A leg of weight 0 adds
	// its hits with nothing, behind all others, and is not recorded in
	// Hit.Legs, so that it decides no tie. With NormLinear, whose scale is that
	// of the hits of all legs, they count for it, and stand where others do that
	// were not found.
	Weight float64
	// Numbers, where every leg of a fusion has them, are what Hits have in one numbering of
	// IDs, from 0: equal where IDs are equal. They spare it the look at each ID. Nil, or
	// another number of them than of Hits, says nothing.
	Numbers []int32
}

// countNumbers is how many numbers the hits of legs have; 0 when not all have one.
func countNumbers(legs ...Leg) int {
	most := int32(-1)
	for i := range legs {
		if len(legs[i].Numbers) != len(legs[i].Hits) {
			return 0
		}
		for _, n := range legs[i].Numbers {
			if n < 0 {
				return 0
			}
			most = max(most, n)
		}
	}
	return int(most) + 1
}

// identity tells which hits of legs are the same: by their numbers, or by their IDs. Its
// memory serves again.
type identity struct {
	places []int32 // by number, from 1; of the order in which they are met
	met    int
	sparse Numbering // instead of places where numbers are few of many
	few    bool
	table  *Ordinals // nil where there are numbers
}

// identify begins with legs.
func (d *identity) identify(legs ...Leg) {
	hits := 0
	for i := range legs {
		hits += len(legs[i].Hits)
	}
	numbers := countNumbers(legs...)
	d.met, d.few, d.table = 0, numbers > 4*hits, nil
	switch {
	case numbers == 0:
		d.table = NewOrdinals(hits)
	case d.few:
		d.sparse.Reset(hits)
	default:
		d.places = sized(d.places, numbers)
	}
}

// place is that of hit k of a leg, among those of all; added when it is a new one.
func (d *identity) place(leg *Leg, k int) (at int, added bool) {
	switch {
	case d.table != nil:
		return d.table.Add(leg.Hits[k].ID)
	case d.few:
		return d.sparse.Add(uint32(leg.Numbers[k]))
	}
	p := &d.places[leg.Numbers[k]]
	if added = *p == 0; added {
		d.met++
		*p = int32(d.met)
	}
	return int(*p) - 1, added
}

func (d *identity) release() {
	if d.table != nil {
		d.table.Release()
		d.table = nil
	}
}

// Fusion joins the rankings of several branches into one.
type Fusion interface {
	// Fuse returns every hit of every leg once, with its rank and raw score
	// in each of them in Legs. Constituents of hits that several legs found
	// are those of all legs in turn, the leg with the best rank first. A
	// score that is not finite is sheaf.ErrInvalid and names the leg, and so
	// are negative weights and weights that sum to 0. No leg gives an empty
	// ranking.
	Fuse(legs []Leg) (sheaf.Ranking, error)
	// FuseTop returns the first n hits of what Fuse returns, and makes no others: it
	// takes less time the fewer are wanted. Below 0 is 0.
	FuseTop(legs []Leg, n int) (sheaf.Ranking, error)
	// FuseIn is FuseTop in memory that serves again; nil makes new.
	FuseIn(in *Memory, legs []Leg, n int) (sheaf.Ranking, error)
}

// RRF is reciprocal rank fusion: a hit scores the sum over the legs of
// weight/(K + rank), ranks counting from 1; a leg that did not find it adds
// nothing. Only ranks count, so the scale of a leg's scores is irrelevant.
//
// Example, K 60, legs (A, B, C) and (B, D, A): B has 1/62 + 1/61 = 0.0325,
// A 1/61 + 1/63 = 0.0323, D 1/62 = 0.0161, C 1/63 = 0.0159.
//
// Source: Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms
// Condorcet and individual Rank Learning Methods (SIGIR 2009), which has no
// weights; those are as in Elasticsearch and Onyx.
type RRF struct {
	// K is 1..1000: the smaller, the more the first ranks count.
	K int
	// Repeats says what an ID that occurs twice in a leg does. By default
	// its best rank counts and the others close up; with Repeats each
	// occurrence counts at its own rank.
	Repeats bool
	// Unit divides the scores by the largest possible, so that the first in
	// every leg has 1.
	Unit bool
}

// Limits of RRF's K.
const (
	MinRRFK = 1
	MaxRRFK = 1000
)

// Fuse implements [Fusion].
func (f RRF) Fuse(legs []Leg) (sheaf.Ranking, error) { return f.FuseTop(legs, math.MaxInt) }

// FuseTop implements [Fusion].
func (f RRF) FuseTop(legs []Leg, n int) (sheaf.Ranking, error) { return f.FuseIn(nil, legs, n) }

// FuseIn implements [Fusion].
func (f RRF) FuseIn(in *Memory, legs []Leg, n int) (sheaf.Ranking, error) {
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
	best := 1.0
	if f.Unit {
		best = total / float64(f.K+1)
	}
	if !f.Repeats {
		if out, ok := lone(in, legs, n, true, func(leg sheaf.Leg) float64 { return f.lone(legs[0].Weight, leg.Rank, best) }); ok {
			return out, nil
		}
	}
	return f.fuseTop(in, legs, n, best)
}

// lone is the score of a hit that one leg alone has.
func (f RRF) lone(weight float64, rank int, best float64) float64 {
	score := weight / float64(f.K+rank)
	if f.Unit {
		score /= best
	}
	return score
}

// fuseTop is FuseTop of any legs, for numbers that are valid.
func (f RRF) fuseTop(in *Memory, legs []Leg, n int, best float64) (sheaf.Ranking, error) {
	u, err := unite("rrf", legs)
	if err != nil {
		return nil, err
	}
	for i := range u.hits {
		var score float64
		for j, leg := range u.at(i) {
			if leg.Rank > 0 {
				score += legs[j].Weight / float64(f.K+leg.Rank)
			}
		}
		u.hits[i].Score = score
	}
	if f.Repeats {
		f.addRepeats(u, legs)
	}
	for i := range u.hits {
		if f.Unit {
			u.hits[i].Score /= best
		}
	}
	return u.ranking(in, n, func(i int) *sheaf.Explanation { return f.explain(u, legs, i, best) }), nil
}

// addRepeats replaces the scores by sums over all occurrences.
func (f RRF) addRepeats(u *union, legs []Leg) {
	for i := range u.hits {
		u.hits[i].Score = 0
	}
	numbers := u.numbers
	for j := range legs {
		for rank := range legs[j].Hits {
			u.hits[numbers[rank]].Score += legs[j].Weight / float64(f.K+rank+1)
		}
		numbers = numbers[len(legs[j].Hits):]
	}
}

func (f RRF) explain(u *union, legs []Leg, i int, best float64) *sheaf.Explanation {
	h := &u.hits[i]
	sum := combined(fmt.Sprintf("reciprocal ranks, k %d", f.K), 0, sheaf.CombineSum)
	term := func(j, rank int) {
		leg := &legs[j]
		v := leg.Weight / float64(f.K+rank)
		under := combined("k + rank", float64(f.K+rank), sheaf.CombineSum,
			part("k", float64(f.K)), sheaf.Explanation{Label: "rank in " + leg.Name, Value: float64(rank), Parts: u.reasons(i, j)})
		sum.Parts = append(sum.Parts, combined(leg.Name, v, sheaf.CombineQuotient, part("weight of "+leg.Name, leg.Weight), under))
		sum.Value += v
	}
	if f.Repeats {
		for j := range legs {
			for r, g := range legs[j].Hits {
				if g.ID == h.ID {
					term(j, r+1)
				}
			}
		}
	} else {
		for j, leg := range u.at(i) {
			if leg.Rank > 0 {
				term(j, leg.Rank)
			}
		}
	}
	if len(sum.Parts) == 0 {
		sum = part(onlyWeightZero, 0)
	}
	if f.Unit {
		sum = combined("share of the largest possible", h.Score, sheaf.CombineQuotient, sum, part("first in every leg", best))
	}
	return &sum
}

// onlyWeightZero explains the score of a hit of legs of weight 0 alone.
const onlyWeightZero = "found only by legs of weight 0"

// totalWeight checks the weights of legs and returns their sum.
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

// union is every hit of several legs, once.
type union struct {
	hits []united
	// numbers say which of hits those of all legs are, one leg after another.
	numbers []int32
	// seen is the last leg, from 1, in which each of hits was seen.
	seen []int32
	// places holds the legs of hits[i] from i*width on.
	places []sheaf.Leg
	width  int
	keys   []rowKey
	which  identity // memory alone
	// sources are the hits in the legs, beside places; only when explaining
	// or when there are constituents to join.
	sources []*sheaf.Hit
	explain bool
	nested  bool
}

// united is what a fusion works out for one hit. It is smaller than a
// sheaf.Hit, of which only the ranking holds any.
type united struct {
	ID      sheaf.ID
	Score   float64
	Passage int
}

// unions are those that are done with, whose memory serves again.
var unions = sync.Pool{New: func() any { return new(union) }}

// maxKeptHits is the most hits of a union that is kept.
const maxKeptHits = 10_000

// release ends the use of u.
func (u *union) release() {
	if cap(u.hits) > maxKeptHits {
		return
	}
	clear(u.hits) // so that no text is kept
	clear(u.sources)
	unions.Put(u)
}

// sized is list with n members, all zero, in its memory where that is enough.
func sized[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// unite gathers the hits of all legs in the order in which they first appear.
func unite(stage string, legs []Leg) (*union, error) {
	u := unions.Get().(*union)
	u.width, u.explain, u.nested = len(legs), false, false
	which := &u.which
	which.identify(legs...)
	defer which.release()
	n := 0
	for j := range legs {
		n += len(legs[j].Hits)
	}
	u.hits, u.numbers = slices.Grow(u.hits[:0], n), slices.Grow(u.numbers[:0], n)
	u.seen, u.places = sized(u.seen, n), sized(u.places, n*u.width)
	for j := range legs { // hits are large: each is looked at once
		rank, counts := 0, legs[j].Weight != 0
		for k := range legs[j].Hits {
			h := &legs[j].Hits[k]
			if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
				return nil, legs[j].Hits.Valid(stage + ": leg " + legs[j].Name)
			}
			u.explain = u.explain || h.Explanation != nil
			u.nested = u.nested || h.Constituents != nil
			i, added := which.place(&legs[j], k)
			u.numbers = append(u.numbers, int32(i))
			if added {
				u.hits = append(u.hits, united{ID: h.ID})
			}
			if u.seen[i] == int32(j+1) {
				continue
			}
			u.seen[i] = int32(j + 1)
			if rank++; !counts {
				continue
			}
			u.places[i*u.width+j] = sheaf.Leg{Rank: rank, Score: h.Score}
			if u.hits[i].Passage == 0 {
				u.hits[i].Passage = h.Passage
			}
		}
	}
	u.seen, u.places = u.seen[:len(u.hits)], u.places[:len(u.hits)*u.width]
	if u.explain || u.nested {
		u.findSources(legs)
	}
	return u, nil
}

// findSources remembers the hits themselves.
func (u *union) findSources(legs []Leg) {
	u.sources = sized(u.sources, len(u.places))
	numbers := u.numbers
	for j := range legs {
		for k := range legs[j].Hits {
			if at := &u.sources[int(numbers[k])*u.width+j]; *at == nil && legs[j].Weight != 0 {
				*at = &legs[j].Hits[k]
			}
		}
		numbers = numbers[len(legs[j].Hits):]
	}
}

// at is where hit i stands in each leg.
func (u *union) at(i int) []sheaf.Leg {
	return u.places[i*u.width : (i+1)*u.width : (i+1)*u.width]
}

// reasons is the explanation that hit i has in leg j, as the parts of a number
// that it only informs; nil when there is none.
func (u *union) reasons(i, j int) []sheaf.Explanation {
	if s := u.sources[i*u.width+j]; s != nil && s.Explanation != nil {
		return []sheaf.Explanation{*s.Explanation}
	}
	return nil
}

// ranking is the first n hits of u in order, each explained when hits are; all of
// them when a score is no finite number, so that whoever looks finds it. It sorts small
// keys instead of the hits, which are large.
func (u *union) ranking(in *Memory, n int, explain func(i int) *sheaf.Explanation) sheaf.Ranking {
	defer u.release()
	u.keys = sized(u.keys, len(u.hits))
	keys := u.keys
	for i := range u.hits {
		score := u.hits[i].Score
		if !finite(score) {
			n = len(keys)
		}
		keys[i] = rowKey{score: score, at: int32(i)}
	}
	if n = max(0, min(n, len(keys))); n < len(keys) {
		sortFirst(keys, n, u.compare)
	} else {
		sortKeys(keys, u.tied)
	}
	out, legs := in.ranking(n, n*u.width)
	for i, k := range keys[:n] {
		from := &u.hits[k.at]
		h := &out[i]
		h.ID, h.Score, h.Passage = from.ID, from.Score, from.Passage
		h.Legs, legs = legs[:u.width:u.width], legs[u.width:]
		copy(h.Legs, u.at(int(k.at)))
		if u.explain {
			h.Explanation = explain(int(k.at))
		}
		if u.nested {
			h.Constituents = u.constituents(in, int(k.at), h.ID)
		}
	}
	return out
}

// compare is the order of hits, by the places that keys have for them.
func (u *union) compare(a, b rowKey) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	return u.tied(a, b)
}

// tied is the order of hits of equal score: that of where they stood in the legs.
func (u *union) tied(a, b rowKey) int {
	return cmp.Or(sheaf.CompareLegs(u.at(int(a.at)), u.at(int(b.at))), cmp.Compare(u.hits[a.at].ID, u.hits[b.at].ID))
}

// constituents joins those that hit i has in its legs, taking one of each leg
// in turn, the leg with the best rank first.
func (u *union) constituents(in *Memory, i int, id sheaf.ID) []sheaf.Hit {
	legs := make([]int, 0, u.width)
	for j, leg := range u.at(i) {
		if leg.Rank > 0 {
			legs = append(legs, j)
		}
	}
	slices.SortStableFunc(legs, func(a, b int) int { return cmp.Compare(u.at(i)[a].Rank, u.at(i)[b].Rank) })
	most := 0
	for _, j := range legs {
		most += len(u.sources[i*u.width+j].Constituents)
	}
	if most == 0 {
		return nil
	}
	out := in.constituents(most)
	seen := func(c *sheaf.Hit) bool {
		if c.ID == id {
			return true
		}
		for k := range out { // hits are large
			if out[k].ID == c.ID {
				return true
			}
		}
		return false
	}
	if most > fewConstituents {
		met := NewOrdinals(most + 1)
		defer met.Release()
		met.Add(id)
		seen = func(c *sheaf.Hit) bool { _, added := met.Add(c.ID); return !added }
	}
	for n, more := 0, true; more; n++ {
		more = false
		for _, j := range legs {
			inside := u.sources[i*u.width+j].Constituents
			if n >= len(inside) {
				continue
			}
			more = true
			if c := &inside[n]; !seen(c) {
				out = append(out, *c)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
