package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Norm says how to make the scores of a leg comparable with the scores of other legs.
type Norm uint8

// These are the ways to normalize the scores of a leg. "Missing: v" means that a hit which the leg did not find gets v.
const (
	// NormNone keeps the scores. Missing: 0.
	NormNone Norm = iota
	// NormMinMax is (s - lowest)/(highest - lowest). If all scores are equal, it is 1. Missing: 0.
	NormMinMax
	// NormLinear is NormMinMax after the leg gets a score of 0 for each hit that only other legs found. If all scores are
	// equal, it is 0.5. Vespa calls this norm normalize_linear.
	NormLinear
	// NormZScore is (s - mean)/deviation over the leg, with the population's standard deviation. If all scores are equal,
	// it is 0. Missing: the normalized lowest score of the leg.
	NormZScore
	// NormMax is s/highest, or 0 if highest is not above 0. Missing: the normalized lowest score of the leg.
	NormMax
	// NormL2 is s/sqrt(sum of squares). If all scores are 0, it is 0. Missing: 0.
	NormL2
	// NormMinMaxOpenSearch is OpenSearch's min_max. It is NormMinMax, except that the lowest score gets 0.001, so that
	// it differs from a missing hit. Missing: 0.
	NormMinMaxOpenSearch
	// NormZScoreOpenSearch is OpenSearch's z_score: (s - mean)/(standard deviation of the sample). Missing: 0.
	//   - A result of 0 or less becomes 0.001.
	//   - A score equal to the mean becomes the highest raw score.
	//   - If the deviation is 0, every score becomes the lowest raw score.
	//
	// The last two rules are a flaw of OpenSearch, because they mix raw and normalized scores. NormZScoreOpenSearch has
	// them only for comparisons.
	NormZScoreOpenSearch
	// NormShare is s/ideal if the leg has an ideal score (see [Scores.Ideals]), otherwise s. Its scale is absolute: if a
	// leg found only poor matches, its scores are low, and the other legs decide. The share may exceed 1, because a word
	// counts in each field. Missing: 0.
	NormShare
)

// floorOpenSearch is the smallest value that OpenSearch gives to a hit that the leg found.
const floorOpenSearch = 0.001

// statistics has the numbers that a Norm needs about the scores of a leg, such as the mean.
type statistics struct {
	norm         Norm
	name         string
	lo, hi       float64
	mean, spread float64 // spread is the standard deviation
	length       float64 // root of the sum of squares
	ideal        float64 // score of a perfect match, or 0
	n            int
}

// measure returns the statistics of scores. For NormLinear, the caller must add a 0 to scores for each missing hit.
func measure(norm Norm, name string, scores []float64) statistics {
	s := statistics{norm: norm, name: name, n: len(scores)}
	if s.n == 0 {
		return s
	}
	s.lo, s.hi = slices.Min(scores), slices.Max(scores)
	var sum, squares float64
	for _, x := range scores {
		sum += x
		squares += x * x
	}
	s.length = math.Sqrt(squares)
	s.mean = sum / float64(s.n)
	var deviation float64
	for _, x := range scores {
		deviation += (x - s.mean) * (x - s.mean)
	}
	if s.lo != s.hi { // for equal scores, the deviation would be a rounding error
		n := s.n
		if norm == NormZScoreOpenSearch {
			n--
		}
		s.spread = math.Sqrt(deviation / float64(n))
	}
	return s
}

// value returns the normalized score for the score x.
func (s *statistics) value(x float64) float64 {
	switch s.norm {
	case NormMinMax, NormLinear, NormMinMaxOpenSearch:
		if s.lo == s.hi {
			if s.norm == NormLinear {
				return 0.5
			}
			return 1
		}
		v := (x - s.lo) / (s.hi - s.lo)
		if v == 0 && s.norm == NormMinMaxOpenSearch {
			return floorOpenSearch
		}
		return v
	case NormZScore:
		if s.spread == 0 {
			return 0
		}
		return (x - s.mean) / s.spread
	case NormZScoreOpenSearch:
		switch {
		case s.spread == 0:
			return s.lo
		case x == s.mean:
			return s.hi
		}
		return max((x-s.mean)/s.spread, floorOpenSearch)
	case NormMax:
		if s.hi <= 0 {
			return 0
		}
		return x / s.hi
	case NormL2:
		if s.length == 0 {
			return 0
		}
		return x / s.length
	case NormShare:
		if s.ideal > 0 {
			return x / s.ideal
		}
	}
	return x
}

// missing returns the value of a hit that the leg did not find.
func (s *statistics) missing() float64 {
	switch {
	case s.n == 0:
		return 0
	case s.norm == NormLinear:
		return s.value(0)
	case s.norm == NormZScore, s.norm == NormMax:
		return s.value(s.lo)
	}
	return 0
}

// explain explains how the score x became value(x). from is the explanation of x.
func (s *statistics) explain(x float64, from sheaf.Explanation) sheaf.Explanation {
	v := s.value(x)
	from.Value = x
	lo, hi := part("lowest of "+s.name, s.lo), part("highest of "+s.name, s.hi)
	switch {
	case s.norm == NormNone, s.norm == NormShare && s.ideal <= 0:
		return from
	case s.norm == NormShare:
		return combined(s.name+" / all that was asked for", v, sheaf.CombineQuotient, from,
			part("what the query is worth in "+s.name, s.ideal))
	case s.norm == NormMax && s.hi > 0:
		return combined(s.name+" / highest", v, sheaf.CombineQuotient, from, hi)
	case s.norm == NormL2 && s.length != 0:
		return combined(s.name+" / length", v, sheaf.CombineQuotient, from, part("length of all scores", s.length))
	case (s.norm == NormMinMax || s.norm == NormLinear || s.norm == NormMinMaxOpenSearch && x != s.lo) && s.lo != s.hi:
		return combined(s.name+" within its range", v, sheaf.CombineQuotient,
			combined("above the lowest", x-s.lo, sheaf.CombineDifference, from, lo),
			combined("range", s.hi-s.lo, sheaf.CombineDifference, hi, lo))
	case s.norm == NormZScore && s.spread != 0, s.norm == NormZScoreOpenSearch && s.spread != 0 && x != s.mean:
		z := combined(s.name+" in deviations from its mean", (x-s.mean)/s.spread, sheaf.CombineQuotient,
			combined("above the mean", x-s.mean, sheaf.CombineDifference, from, part("mean of "+s.name, s.mean)),
			part("deviation of "+s.name, s.spread))
		if s.norm == NormZScoreOpenSearch {
			return combined(s.name+", at least 0.001", v, sheaf.CombineMax, z, part("least", floorOpenSearch))
		}
		return z
	}
	return sheaf.Explanation{Label: s.name + ", a special case of its norm", Value: v, Parts: []sheaf.Explanation{from}}
}
