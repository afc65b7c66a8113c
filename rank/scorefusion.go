package rank

import (
	"math"

	"sheaf"
)

// Mean says how the normalized scores of a hit become one score. x is the hit's score in a leg, w the leg's weight, and
// W the sum of all legs' weights.
type Mean uint8

// These are the ways to combine legs.
const (
	// MeanSum is the sum of w x.
	MeanSum Mean = iota
	// MeanArithmetic is the sum of w x, divided by W.
	MeanArithmetic
	// MeanGeometric is exp(sum of w ln x / sum of w) over the legs where x is above 0. Without such a leg, it is 0.
	// OpenSearch ignores the other legs in the same way.
	MeanGeometric
	// MeanHarmonic is (sum of w)/(sum of w/x) over the legs where x is above 0. Without such a leg, it is 0.
	MeanHarmonic
	// MeanRSS is the square root of the sum of (w x) squared. The square and the root keep the sign of a number, so a
	// lower score never gives a higher result.
	MeanRSS
)

// Scores fuses legs by their scores. It normalizes the scores of each leg and then combines them. NormMinMax with
// MeanArithmetic is the weighted sum w minmax(vector) + (1-w) minmax(text). NormLinear with MeanSum is the global phase
// of Vespa. The OpenSearch norms with a mean are OpenSearch's normalization processor.
//
// Example, NormMinMax, MeanArithmetic, equal weights, legs (A 3, B 2, C 1) and (B 10, D 4): A has 0.5.
type Scores struct {
	Norm Norm
	Mean Mean
	// Ideals is for NormShare. It has the score of a perfect match for each leg. In a search by words, this is the sum of
	// the terms' idf. If the score is 0 or missing, the leg's scores are shares already, for example cosines.
	Ideals []float64
}

// Fuse implements [Fusion].
func (f Scores) Fuse(legs []Leg) (sheaf.Ranking, error) {
	total, err := totalWeight("fuse", legs)
	if err != nil {
		return nil, err
	}
	u, err := unite("fuse", legs)
	if err != nil {
		return nil, err
	}
	stats := f.stats(u)
	values := make([]float64, len(legs))
	for i := range u.hits {
		f.normalize(u, stats, i, values)
		u.hits[i].Score = f.combine(legs, values, total)
	}
	if f.Norm != NormLinear {
		u.lower()
	}
	return u.ranking(func(i int) sheaf.Explanation {
		f.normalize(u, stats, i, values)
		return f.explain(u, stats, values, i, total)
	}), nil
}

// lower moves a hit behind all other hits if only legs of weight 0 found it. Without lower, such a hit could come
// before a hit with a very low score.
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

// stats returns the statistics of the scores in every leg.
func (f Scores) stats(u *union) []statistics {
	stats := make([]statistics, len(u.legs))
	scores := make([]float64, 0, len(u.hits))
	for j := range u.legs {
		scores = scores[:0]
		for i := range u.hits {
			if leg := u.hits[i].Legs[j]; leg.Rank > 0 || f.Norm == NormLinear && u.legs[j].Weight > 0 {
				scores = append(scores, leg.Score)
			}
		}
		stats[j] = measure(f.Norm, u.legs[j].Name, scores)
		if j < len(f.Ideals) {
			stats[j].ideal = f.Ideals[j]
		}
	}
	return stats
}

// normalize writes the normalized scores of hit i into values, one for each leg.
func (f Scores) normalize(u *union, stats []statistics, i int, values []float64) {
	for j, leg := range u.hits[i].Legs {
		if leg.Rank > 0 {
			values[j] = stats[j].value(leg.Score)
		} else {
			values[j] = stats[j].missing()
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
	switch {
	case f.Mean == MeanArithmetic:
		return sum / total
	case f.Mean == MeanRSS:
		return sheaf.SignedRoot(sum)
	case f.Mean == MeanGeometric && weights > 0:
		return math.Exp(sum / weights)
	case f.Mean == MeanHarmonic && weights > 0:
		return weights / sum
	}
	return sum // for MeanGeometric and MeanHarmonic, 0: no leg counts
}

func (f Scores) explain(u *union, stats []statistics, values []float64, i int, total float64) sheaf.Explanation {
	if f.Norm != NormLinear && !u.counts(i) {
		return part(onlyWeightZero, u.hits[i].Score)
	}
	var parts []sheaf.Explanation
	var weights float64
	for j, leg := range u.hits[i].Legs {
		w, name := u.legs[j].Weight, u.legs[j].Name
		if w == 0 {
			continue
		}
		if f.Mean == MeanGeometric || f.Mean == MeanHarmonic {
			if values[j] <= 0 {
				continue
			}
			weights += w
		}
		x := part("not found by "+name, values[j])
		if leg.Rank > 0 {
			raw := part("score in "+name, leg.Score)
			if s := u.source(i, j); s.Explanation != nil {
				raw = *s.Explanation
			}
			x = stats[j].explain(leg.Score, raw)
		}
		parts = append(parts, f.term(name, w, x))
	}
	return f.whole(u.hits[i].Score, parts, weights, total)
}

// term explains what one leg adds to the score: x is the score in the leg, and w the weight. For the geometric mean,
// the value is 0 until the method whole computes it from all weights.
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

func (f Scores) whole(score float64, parts []sheaf.Explanation, weights, total float64) sheaf.Explanation {
	if len(parts) == 0 {
		return part("in no leg that counts", score)
	}
	switch f.Mean {
	case MeanArithmetic:
		return combined("weighted mean of the legs", score, sheaf.CombineQuotient,
			combined("weighted sum", score*total, sheaf.CombineSum, parts...), part("sum of the weights", total))
	case MeanGeometric:
		for i := range parts {
			x, w := parts[i].Parts[0].Value, parts[i].Parts[1]
			share := combined("share of the weights", w.Value/weights, sheaf.CombineQuotient, w,
				part("sum of the weights", weights))
			parts[i].Parts[1] = share
			parts[i].Value = math.Pow(x, share.Value)
		}
		return combined("geometric mean of the legs", score, sheaf.CombineProduct, parts...)
	case MeanHarmonic:
		return combined("harmonic mean of the legs", score, sheaf.CombineQuotient,
			part("sum of the weights", weights), combined("sum of weight / score", weights/score, sheaf.CombineSum, parts...))
	case MeanRSS:
		return combined("root of the sum of squares of the legs", score, sheaf.CombineRSS, parts...)
	}
	return combined("weighted sum of the legs", score, sheaf.CombineSum, parts...)
}
