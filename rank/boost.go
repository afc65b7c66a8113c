package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Blend says how a boost's factor changes a score. A factor of 1 changes nothing, a larger one raises the score,
// a smaller one lowers it.
type Blend uint8

// The ways to blend a factor in.
const (
	// Multiply gives score x factor. It divides a negative score, so that a factor above 1 always raises the
	// score.
	Multiply Blend = iota
	// Add gives score + factor - 1.
	Add
)

// factor is what a boost does to one hit. Only a hit with an explanation needs the reasons.
type factor struct {
	value float64
	why   *sheaf.Explanation
}

// boost blends factors into the scores of hits and sorts them. of returns the factor of a hit, or false. Factors
// must be finite and, to be multiplied, not negative.
func boost(stage string, blend Blend, in sheaf.Ranking, of func(h *sheaf.Hit) (factor, bool)) (sheaf.Ranking, error) {
	if blend > Add {
		return nil, sheaf.Invalidf("%s: unknown way %d to blend", stage, blend)
	}
	if err := in.Valid(stage); err != nil {
		return nil, err
	}
	out := slices.Clone(in)
	for i := range out {
		h := &out[i]
		f, ok := of(h)
		if !ok {
			continue
		}
		score := blend.apply(h.Score, f.value)
		if err := gives(stage, h.ID, score); err != nil {
			return nil, err
		}
		if h.Explanation != nil {
			h.Explanation = blend.explain(stage, h.Explanation, h.Score, score, &f)
		}
		h.Score = score
	}
	out.Sort()
	return out, nil
}

// gives returns an error unless the score that a stage gives to a hit is a finite number.
func gives(stage string, id sheaf.ID, score float64) error {
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

// explain says how a factor changed the score before into score.
func (b Blend) explain(stage string, why *sheaf.Explanation, before, score float64, by *factor) *sheaf.Explanation {
	var e sheaf.Explanation
	switch {
	case b == Add:
		e = combined(stage, score, sheaf.CombineSum, *why,
			combined("factor - 1", by.value-1, sheaf.CombineDifference, *by.why, part("one", 1)))
	case before < 0 && by.value > 0:
		e = combined(stage+" of a negative score", score, sheaf.CombineQuotient, *why, *by.why)
	default:
		e = combined(stage, score, sheaf.CombineProduct, *why, *by.why)
	}
	return &e
}

// capped returns a factor with the value of why, at most limit; 0 is no limit.
func capped(why sheaf.Explanation, limit float64) factor {
	if atMost(why.Value, limit) < why.Value {
		why = combined("at most "+number(limit), limit, sheaf.CombineMin, why, part("cap", limit))
	}
	return factor{why.Value, &why}
}

// atMost returns only the value of [capped].
func atMost(value, limit float64) float64 {
	if limit > 0 && value > limit {
		return limit
	}
	return value
}

// called adds to a factor what programs need to identify it.
func (f factor) called(kind string, details map[string]sheaf.Value) factor {
	f.why.Kind, f.why.Details = kind, details
	return f
}

// positive returns an error unless v is a finite number above 0.
func positive(stage, name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return sheaf.Invalidf("%s: %s is %v: must be a finite number above 0", stage, name, v)
	}
	return nil
}

// within returns an error unless v is in lo..hi.
func within(stage, name string, v, lo, hi float64) error {
	if !(v >= lo && v <= hi) {
		return sheaf.Invalidf("%s: %s is %v: must be within %v..%v", stage, name, v, lo, hi)
	}
	return nil
}

// sum is what a stage adds to the score of one hit, with an explanation for each value.
type sum struct {
	value   float64
	explain bool // the hit has an explanation
	parts   []sheaf.Explanation
}

// add adds a value. It calls part for an explanation only when needed.
func (s *sum) add(value float64, part func() sheaf.Explanation) {
	s.value += value
	if value != 0 && s.explain {
		s.parts = append(s.parts, part())
	}
}

// addEach adds to every hit what each adds, and sorts the hits. It returns in itself when nothing is added.
func addEach(stage string, in sheaf.Ranking, each func(h *sheaf.Hit, s *sum)) (sheaf.Ranking, error) {
	if err := in.Valid(stage); err != nil {
		return nil, err
	}
	out, s := in, sum{}
	for i := range in {
		s = sum{explain: in[i].Explanation != nil}
		if each(&in[i], &s); s.value == 0 {
			continue
		}
		if &out[0] == &in[0] {
			out = slices.Clone(in)
		}
		h := &out[i]
		h.Score += s.value
		if err := gives(stage, h.ID, h.Score); err != nil {
			return nil, err
		}
		if s.explain {
			parts := append([]sheaf.Explanation{*h.Explanation}, s.parts...)
			e := combined(stage, h.Score, sheaf.CombineSum, parts...)
			h.Explanation = &e
		}
	}
	if len(in) > 0 && &out[0] != &in[0] {
		out.Sort()
	}
	return out, nil
}
