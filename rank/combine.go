package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Mean says how the normalized scores x of a hit in its legs, with weights w,
// become one score. W is the sum of the weights of all legs.
type Mean uint8

// The ways to combine legs.
const (
	// MeanSum is the sum of w x.
	MeanSum Mean = iota
	// MeanArithmetic is the sum of w x, divided by W.
	MeanArithmetic
	// MeanGeometric is exp(sum of w ln x / sum of w) over the legs where x is
	// above 0; 0 when there is none. A missing leg is so left out, as
	// OpenSearch does.
	MeanGeometric
	// MeanHarmonic is (sum of w)/(sum of w/x) over the legs where x is above
	// 0; 0 when there is none.
	MeanHarmonic
	// MeanRSS is the square root of the sum of (w x) squared. Squares and root
	// keep the sign, so that a lower score never gives more.
	MeanRSS
)

// Scores fuses by scores: those of each leg are normalized, then combined.
// With Norm NormMinMax and MeanArithmetic it is the weighted sum
// w minmax(vector) + (1-w) minmax(text); with NormLinear and MeanSum the
// global phase of Vespa; with the OpenSearch norms and a mean, OpenSearch's
// normalization processor.
//
// Example, NormMinMax, MeanArithmetic, weights 1 and 1, legs (A 3, B 2, C 1)
// and (B 10, D 4): A has (1 + 0)/2, B (0.5 + 1)/2 = 0.75, C 0, D 0.
type Scores struct {
	Norm Norm
	Mean Mean
	// Ideals are, for NormShare and by leg, what a hit would score that has
	// all that was asked for: of words, the sum of the idf of the query's
	// terms. 0, or no number for a leg, says that its scores are shares as
	// they are, as cosines.
	Ideals []float64
}

// Fuse implements [Fusion].
func (f Scores) Fuse(legs []Leg) (sheaf.Ranking, error) { return f.FuseTop(legs, math.MaxInt) }

// FuseTop implements [Fusion].
func (f Scores) FuseTop(legs []Leg, n int) (sheaf.Ranking, error) { return f.FuseIn(nil, legs, n) }

// FuseIn implements [Fusion].
func (f Scores) FuseIn(in *Memory, legs []Leg, n int) (sheaf.Ranking, error) {
	total, err := totalWeight("fuse", legs)
	if err != nil {
		return nil, err
	}
	if f.Norm == NormNone && f.Mean <= MeanArithmetic { // which keep the order of scores
		x := make([]float64, 1)
		if out, ok := lone(in, legs, n, false, func(leg sheaf.Leg) float64 { x[0] = leg.Score; return f.combine(legs, x, total) }); ok {
			return out, nil
		}
	}
	return f.fuseTop(in, legs, n, total)
}

// fuseTop is FuseTop of any legs, for weights that are valid.
func (f Scores) fuseTop(in *Memory, legs []Leg, n int, total float64) (sheaf.Ranking, error) {
	u, err := unite("fuse", legs)
	if err != nil {
		return nil, err
	}
	scales := f.scales(u, legs)
	values := make([]float64, len(legs))
	if !f.sumShares(u, legs, scales) {
		for i := range u.hits {
			f.normalize(u, scales, i, values)
			u.hits[i].Score = f.combine(legs, values, total)
		}
	}
	if f.Norm != NormLinear && slices.ContainsFunc(legs, func(l Leg) bool { return l.Weight == 0 }) {
		u.lower()
	}
	return u.ranking(in, n, func(i int) *sheaf.Explanation {
		f.normalize(u, scales, i, values)
		return f.explain(u, legs, scales, values, i, total)
	}), nil
}

// lower sees to it that hits of legs of weight 0 alone stand behind all others, also where
// those score less than a hit that was not found.
func (u *union) lower() {
	least := math.Inf(1)
	for i := range u.hits {
		if u.counts(i) {
			least = min(least, u.hits[i].Score)
		}
	}
	for i := range u.hits {
		if !u.counts(i) {
			u.hits[i].Score = min(u.hits[i].Score, least)
		}
	}
}

// counts reports whether a leg of a weight above 0 found hit i.
func (u *union) counts(i int) bool {
	return slices.ContainsFunc(u.at(i), func(leg sheaf.Leg) bool { return leg.Rank > 0 })
}

// sumShares is normalize and combine for sums of shares and of scores as they are, without
// a choice for each hit; false for others.
func (f Scores) sumShares(u *union, legs []Leg, scales []scale) bool {
	if f.Mean != MeanSum || f.Norm != NormShare && f.Norm != NormNone {
		return false
	}
	for j := range legs {
		weight, ideal := legs[j].Weight, 1.0 // which changes nothing
		if f.Norm == NormShare && scales[j].ideal > 0 {
			ideal = scales[j].ideal
		}
		for i := range u.hits {
			if leg := &u.places[i*u.width+j]; leg.Rank > 0 {
				u.hits[i].Score += weight * (leg.Score / ideal)
			}
		}
	}
	return true
}

// scales measures every leg, repeats left out.
func (f Scores) scales(u *union, legs []Leg) []scale {
	scales := make([]scale, len(legs))
	var scores []float64
	measured := f.Norm != NormNone && f.Norm != NormShare // which ask for nothing of the others
	if measured {
		scores = make([]float64, 0, len(u.hits))
	}
	for j := range legs {
		scores = scores[:0]
		for i := 0; i < len(u.hits) && measured; i++ {
			if leg := u.at(i)[j]; leg.Rank > 0 || f.Norm == NormLinear && legs[j].Weight > 0 {
				scores = append(scores, leg.Score)
			}
		}
		scales[j] = newScale(f.Norm, legs[j].Name, scores)
		if j < len(f.Ideals) {
			scales[j].ideal = f.Ideals[j]
		}
	}
	return scales
}

// normalize sets values to those of hit i in every leg.
func (f Scores) normalize(u *union, scales []scale, i int, values []float64) {
	for j, leg := range u.at(i) {
		if leg.Rank > 0 {
			values[j] = scales[j].value(leg.Score)
		} else {
			values[j] = scales[j].missing()
		}
	}
}

func (f Scores) combine(legs []Leg, values []float64, total float64) float64 {
	var sum, weights float64
	for j, x := range values {
		w := legs[j].Weight
		switch f.Mean {
		case MeanSum, MeanArithmetic:
			sum += w * x
		case MeanRSS:
			sum += sheaf.SignedSquare(w * x)
		case MeanGeometric:
			if x > 0 {
				sum += w * math.Log(x)
				weights += w
			}
		case MeanHarmonic:
			if x > 0 {
				sum += w / x
				weights += w
			}
		}
	}
	switch f.Mean {
	case MeanArithmetic:
		return sum / total
	case MeanRSS:
		return sheaf.SignedRoot(sum)
	case MeanGeometric:
		if weights == 0 {
			return 0
		}
		return math.Exp(sum / weights)
	case MeanHarmonic:
		if weights == 0 {
			return 0
		}
		return weights / sum
	}
	return sum
}

// explain writes out the arithmetic of combine.
func (f Scores) explain(u *union, legs []Leg, scales []scale, values []float64, i int, total float64) *sheaf.Explanation {
	if f.Norm != NormLinear && !u.counts(i) {
		e := part(onlyWeightZero, u.hits[i].Score)
		return &e
	}
	var parts []sheaf.Explanation
	var weights float64
	for j, leg := range u.at(i) {
		w := legs[j].Weight
		if w == 0 {
			continue
		}
		if f.Mean == MeanGeometric || f.Mean == MeanHarmonic {
			if values[j] <= 0 {
				continue
			}
			weights += w
		}
		x := part("not found by "+legs[j].Name, values[j])
		if leg.Rank > 0 {
			x = scales[j].explain(leg.Score, legReason(u, i, j, legs[j].Name))
		}
		parts = append(parts, f.term(legs[j].Name, w, x))
	}
	return f.whole(u.hits[i].Score, parts, weights, total)
}

// legReason is the raw score of hit i in leg j with its reasons.
func legReason(u *union, i, j int, name string) sheaf.Explanation {
	if s := u.sources[i*u.width+j]; s.Explanation != nil {
		return *s.Explanation
	}
	return part("score in "+name, u.at(i)[j].Score)
}

// term is what one leg adds. For the geometric mean it is a pair, finished by
// whole, which knows the sum of the weights.
func (f Scores) term(name string, w float64, x sheaf.Explanation) sheaf.Explanation {
	weight := part("weight of "+name, w)
	switch f.Mean {
	case MeanGeometric:
		return combined(name, 0, sheaf.CombinePower, x, weight)
	case MeanHarmonic:
		return combined(name, w/x.Value, sheaf.CombineQuotient, weight, x)
	}
	return combined(name, w*x.Value, sheaf.CombineProduct, weight, x)
}

func (f Scores) whole(score float64, parts []sheaf.Explanation, weights, total float64) *sheaf.Explanation {
	if len(parts) == 0 {
		e := part("in no leg that counts", score)
		return &e
	}
	var e sheaf.Explanation
	switch f.Mean {
	case MeanArithmetic:
		e = combined("weighted mean of the legs", score, sheaf.CombineQuotient,
			combined("weighted sum", score*total, sheaf.CombineSum, parts...), part("sum of the weights", total))
	case MeanGeometric:
		for i := range parts {
			x, w := parts[i].Parts[0].Value, parts[i].Parts[1]
			share := combined("share of the weights", w.Value/weights, sheaf.CombineQuotient, w, part("sum of the weights", weights))
			parts[i].Parts[1] = share
			parts[i].Value = math.Pow(x, share.Value)
		}
		e = combined("geometric mean of the legs", score, sheaf.CombineProduct, parts...)
	case MeanHarmonic:
		e = combined("harmonic mean of the legs", score, sheaf.CombineQuotient,
			part("sum of the weights", weights), combined("sum of weight / score", weights/score, sheaf.CombineSum, parts...))
	case MeanRSS:
		e = combined("root of the sum of squares of the legs", score, sheaf.CombineRSS, parts...)
	default:
		e = combined("weighted sum of the legs", score, sheaf.CombineSum, parts...)
	}
	return &e
}

// MaxLegs is leg a with the hits of b too: each has the larger of its scores in both,
// and one that only one of them found has its score there. It serves signals that are
// the better of two, as the title signal of Onyx on Vespa, which is the nearer of title
// and content.
//
// Its hits lie in memory that serves again; nil makes new.
func MaxLegs(in *Memory, a, b Leg) Leg {
	var which identity
	which.identify(a, b)
	defer which.release()
	// They are mostly the same hits; raised are those of keys that have what b says, in its order.
	keys, merged, raised := in.max(max(len(a.Hits), len(b.Hits)), len(b.Hits))
	for _, leg := range [...]*Leg{&a, &b} {
		for k := range leg.Hits {
			h := &leg.Hits[k]
			i, added := which.place(leg, k)
			switch {
			case added:
				keys = append(keys, maxKey{score: h.Score, hit: h, ofB: leg == &b})
				if which.table == nil {
					keys[i].number = leg.Numbers[k]
				}
			case h.Score > keys[i].score:
				keys[i].score, keys[i].hit = h.Score, h
				if leg == &a || keys[i].ofB {
					continue
				}
				keys[i].ofB = true
			default:
				continue
			}
			if leg == &b {
				raised = append(raised, int32(i))
			}
		}
	}
	keys = mergeMax(merged, keys, raised)
	out := Leg{Name: a.Name, Weight: a.Weight}
	out.Hits, _ = in.ranking(len(keys), 0)
	if which.table == nil {
		out.Numbers = in.merged(len(keys))
	}
	for i, k := range keys {
		out.Hits[i] = *k.hit
		if out.Numbers != nil {
			out.Numbers[i] = k.number
		}
	}
	return out
}

// maxKey is what is moved while the hits of [MaxLegs] are put in order: hits are large.
type maxKey struct {
	score  float64
	hit    *sheaf.Hit
	number int32
	ofB    bool
}

func (k *maxKey) compare(other *maxKey) int {
	switch {
	case k.score > other.score:
		return -1
	case k.score < other.score:
		return 1
	}
	return sheaf.CompareTied(k.hit, other.hit)
}

// mergeMax puts keys in order. Those that are raised are so among themselves, and the
// others too, where the legs were. out is memory for them.
func mergeMax(out, keys []maxKey, raised []int32) []maxKey {
	at := 0
	for len(out) < len(keys) {
		for at < len(keys) && keys[at].ofB {
			at++
		}
		if len(raised) > 0 && (at == len(keys) || keys[raised[0]].compare(&keys[at]) < 0) {
			out, raised = append(out, keys[raised[0]]), raised[1:]
		} else {
			out = append(out, keys[at])
			at++
		}
		if n := len(out); n > 1 && out[n-2].compare(&out[n-1]) > 0 { // legs in another order
			slices.SortFunc(keys, func(a, b maxKey) int { return a.compare(&b) })
			return keys
		}
	}
	return out
}
