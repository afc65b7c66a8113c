package rank

import (
	"math"

	"sheaf"
)

// Blend says how a boost's factor changes a score. A factor of 1 changes
// nothing, a larger one raises the score, a smaller one lowers it.
type Blend uint8

// The ways to blend a factor in.
const (
	// Multiply gives score x factor. A score below 0 is divided instead, so
	// that a factor above 1 raises it too.
	Multiply Blend = iota
	// Add gives score + factor - 1.
	Add
)

// factor is what a boost does to one hit. The reasons are needed only for hits
// that carry an explanation.
type factor struct {
	value float64
	why   *sheaf.Explanation
}

// boosting is what a boost does to any hit by itself: the factor, false for none.
// Factors must be finite and, to be multiplied, not negative. h is the hit as the row
// began with it, c its chunk, nil when there is none.
type boosting struct {
	stage  string
	blend  Blend
	facts  Facts // that know the chunk; nil when it is not asked for
	factor func(h *sheaf.Hit, c *sheaf.Node) (factor, bool)
}

func (b *boosting) valid() error {
	if b.blend > Add {
		return sheaf.Invalidf("%s: unknown way %d to blend", b.stage, b.blend)
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

// explain says how a factor made score of the one before, which has its own reasons.
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

// capped is the factor value of why, at most limit; 0 is no limit.
func capped(why sheaf.Explanation, limit float64) factor {
	if atMost(why.Value, limit) < why.Value {
		why = combined("at most "+number(limit), limit, sheaf.CombineMin, why, part("cap", limit))
	}
	return factor{why.Value, &why}
}

// atMost is the value of [capped] alone.
func atMost(value, limit float64) float64 {
	if limit > 0 && value > limit {
		return limit
	}
	return value
}

// called names what a factor is, for programs.
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

// within returns an error unless v lies in lo..hi.
func within(stage, name string, v, lo, hi float64) error {
	if !(v >= lo && v <= hi) {
		return sheaf.Invalidf("%s: %s is %v: must be within %v..%v", stage, name, v, lo, hi)
	}
	return nil
}

// firstError is the first of errs that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// addition is what a stage adds to the score of one hit. parts explain it, one each, and
// are made only for rows whose hits carry explanations.
type addition struct {
	value float64
	parts []sheaf.Explanation
}

// add adds a value other than 0. It reports whether the caller must append its part.
func (a *addition) add(r *Row, value float64) (explain bool) {
	a.value += value
	return value != 0 && r.why != nil
}
