package rank

import (
	"math"

	"sheaf"
)

// Norm says how the scores of one leg become comparable with those of others.
type Norm uint8

// The ways to normalize a leg. "Missing" is what a hit gets that the leg did
// not find.
const (
	// NormNone keeps the score. Missing: 0.
	NormNone Norm = iota
	// NormMinMax is (s - lowest)/(highest - lowest), and 1 when all are
	// equal. Missing: 0.
	NormMinMax
	// NormLinear is min-max over all hits of all legs, where hits that the
	// leg did not find take part with score 0; 0.5 when all are equal. It is
	// Vespa's normalize_linear.
	NormLinear
	// NormZScore is (s - mean)/deviation over the leg, the deviation being
	// that of the population; 0 when all are equal. Missing: that of the
	// leg's lowest score, the best that is known of what came after it.
	NormZScore
	// NormMax is s/highest; 0 when the highest is not above 0. Missing: as
	// NormZScore.
	NormMax
	// NormL2 is s/sqrt(sum of squares); 0 when all are 0. Missing: 0.
	NormL2
	// NormMinMaxOpenSearch is OpenSearch's min_max: NormMinMax, but the
	// lowest gets 0.001, to tell it from a missing one. Missing: 0.
	NormMinMaxOpenSearch
	// NormZScoreOpenSearch is OpenSearch's z_score: the sample deviation;
	// values of 0 and less become 0.001; a score that equals the mean
	// becomes the highest score as it is, and every score the lowest when
	// the deviation is 0. Missing: 0. The last two rules mix raw scores with
	// normalized ones: a known flaw, kept here for comparison only.
	NormZScoreOpenSearch
	// NormShare is s/ideal, where the leg tells its ideal score, and s where
	// it does not: an absolute scale, on which a query of which little was
	// found has low scores and leaves the ranking to the other legs. May
	// exceed 1: words that stand in several fields count in each.
	// Missing: 0.
	NormShare
)

// floorOpenSearch is the least that OpenSearch gives to a hit that was found.
const floorOpenSearch = 0.001

// scale holds the statistics of one list of scores under a Norm.
type scale struct {
	norm         Norm
	name         string
	lo, hi       float64
	mean, spread float64
	length       float64
	ideal        float64
	n            int
}

// newScale measures scores. The legs of a fusion give NormLinear the zeros of
// missing hits.
func newScale(norm Norm, name string, scores []float64) scale {
	s := scale{norm: norm, name: name, lo: math.Inf(1), hi: math.Inf(-1), n: len(scores)}
	switch {
	case s.n == 0, norm == NormNone, norm == NormShare: // which ask for nothing of it
		s.lo, s.hi = 0, 0
		return s
	}
	if norm == NormMinMax || norm == NormLinear || norm == NormMinMaxOpenSearch {
		for _, x := range scores {
			s.lo, s.hi = min(s.lo, x), max(s.hi, x)
		}
		return s
	}
	var sum, squares float64
	for _, x := range scores {
		s.lo, s.hi = min(s.lo, x), max(s.hi, x)
		sum += x
		squares += x * x
	}
	s.length = math.Sqrt(squares)
	s.mean = sum / float64(s.n)
	var deviation float64
	for _, x := range scores {
		deviation += (x - s.mean) * (x - s.mean)
	}
	switch {
	case norm == NormZScoreOpenSearch && s.n > 1:
		s.spread = math.Sqrt(deviation / float64(s.n-1))
	case norm != NormZScoreOpenSearch:
		s.spread = math.Sqrt(deviation / float64(s.n))
	}
	if s.lo == s.hi {
		s.spread = 0 // rounding of the mean must not make a difference of none
	}
	return s
}

// value is the normalized form of x.
func (s *scale) value(x float64) float64 {
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

// missing is what a hit gets that was not found.
func (s *scale) missing() float64 {
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

// explain says how x, whose own reasons are from, became value(x).
func (s *scale) explain(x float64, from sheaf.Explanation) sheaf.Explanation {
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
