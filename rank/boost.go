package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Blend says how a boost's factor changes a score. A factor above 1 raises it, a factor below 1 lowers it.
type Blend uint8

// These are the ways in which a factor changes a score.
const (
	// Multiply gives score * factor, or score / factor for a negative score. So a factor above 1 always raises the score.
	Multiply Blend = iota
	// Add gives score + factor - 1.
	Add
)

// factor returns the factor of a boost for one hit, and a function that explains the factor. If the function is nil,
// the boost does not change the hit.
type factor func(h *sheaf.Hit) (value float64, why func() sheaf.Explanation)

// boost changes the score of each hit by its factor, and sorts the hits. The caller must pass finite factors, and for
// Multiply no negative factors. limit is the largest factor; 0 means no limit.
func boost(stage string, blend Blend, limit float64, in sheaf.Ranking, of factor) (sheaf.Ranking, error) {
	out := slices.Clone(in)
	for i := range out {
		h := &out[i]
		value, why := of(h)
		if why == nil {
			continue
		}
		if limit > 0 {
			value = min(value, limit)
		}
		score := blend.apply(h.Score, value)
		if err := checkFinite(stage, h.ID, score); err != nil {
			return nil, err
		}
		if h.Explanation != nil {
			h.Explanation = new(blend.explain(stage, *h.Explanation, h.Score, score, capped(why(), limit)))
		}
		h.Score = score
	}
	out.Sort()
	return out, nil
}

// checkFinite returns an error if the new score of a hit is not a finite number.
func checkFinite(stage string, id sheaf.ID, score float64) error {
	if math.IsNaN(score) || math.IsInf(score, 0) {
		return sheaf.Invalidf("%s: the score of %q becomes %v: must be a finite number", stage, id, score)
	}
	return nil
}

func (b Blend) apply(score, factor float64) float64 {
	switch {
	case b == Add:
		return score + (factor - 1)
	case score < 0 && factor > 0:
		return score / factor
	}
	return score * factor
}

// explain returns the explanation of a score that a factor changed. before is the old score, and why explains the old
// score. The parameter by explains the factor.
func (b Blend) explain(stage string, why sheaf.Explanation, before, score float64,
	by sheaf.Explanation) sheaf.Explanation {
	switch {
	case b == Add:
		return combined(stage, score, sheaf.CombineSum, why,
			combined("factor - 1", by.Value-1, sheaf.CombineDifference, by, part("one", 1)))
	case before < 0 && by.Value > 0:
		return combined(stage+" of a negative score", score, sheaf.CombineQuotient, why, by)
	}
	return combined(stage, score, sheaf.CombineProduct, why, by)
}

// capped returns the explanation of a factor after a cap. The parameter limit is the cap, and why explains the factor
// before the cap. If the factor is greater than limit, the result has the value limit and contains why. Otherwise, or
// if limit is 0, capped returns why unchanged.
func capped(why sheaf.Explanation, limit float64) sheaf.Explanation {
	if limit == 0 || why.Value <= limit {
		return why
	}
	kind, details := why.Kind, why.Details
	why.Kind, why.Details = "", nil
	return called(combined("at most "+number(limit), limit, sheaf.CombineMin, why, part("cap", limit)), kind, details)
}

// sum is what a stage adds to the score of a hit. If the hit has an explanation, parts explains each value in sum.
type sum struct {
	value   float64
	explain bool // the hit has an explanation
	parts   []sheaf.Explanation
}

// add adds a value to the sum. If the hit has an explanation and the value is not 0, add calls part to explain it.
func (s *sum) add(value float64, part func() sheaf.Explanation) {
	s.value += value
	if value != 0 && s.explain {
		s.parts = append(s.parts, part())
	}
}

// addEach calls the function each for every hit. It adds the resulting sum to the hit's score, and sorts the hits. If
// all sums are 0, the order stays.
func addEach(stage string, in sheaf.Ranking, each func(h *sheaf.Hit, s *sum)) (sheaf.Ranking, error) {
	out, changed := slices.Clone(in), false
	var s sum
	for i := range out {
		h := &out[i]
		s = sum{explain: h.Explanation != nil}
		if each(h, &s); s.value == 0 {
			continue
		}
		changed = true
		h.Score += s.value
		if err := checkFinite(stage, h.ID, h.Score); err != nil {
			return nil, err
		}
		if s.explain {
			parts := append([]sheaf.Explanation{*h.Explanation}, s.parts...)
			h.Explanation = new(combined(stage, h.Score, sheaf.CombineSum, parts...))
		}
	}
	if changed {
		out.Sort()
	}
	return out, nil
}
