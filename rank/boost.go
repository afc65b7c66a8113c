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

// boosting is what a boost does to any hit: the factor, false for none. Factors must be
// finite and, to be multiplied, not negative. c is the hit's chunk, nil when there is
// none.
type boosting struct {
	stage  string
	blend  Blend
	facts  Facts // that know the chunk; nil when it is not asked for
	factor func(h *sheaf.Hit, c *sheaf.Node) (factor, bool)
}

// chunk is that of a hit.
func (b *boosting) chunk(h *sheaf.Hit) *sheaf.Node {
	if b.facts == nil {
		return nil
	}
	return nodeOf(b.facts, h.ID)
}

// boost blends factors into the hits, and sorts. A score that overflows is
// sheaf.ErrInvalid.
func boost(stage string, in sheaf.Ranking, blend Blend, facts Facts, f func(h *sheaf.Hit, c *sheaf.Node) (factor, bool)) (sheaf.Ranking, error) {
	return boosting{stage, blend, facts, f}.apply(in)
}

func (b boosting) valid() error {
	if b.blend > Add {
		return sheaf.Invalidf("%s: unknown way %d to blend", b.stage, b.blend)
	}
	return nil
}

func (b boosting) apply(in sheaf.Ranking) (sheaf.Ranking, error) {
	if err := firstError(b.valid(), in.Valid(b.stage)); err != nil {
		return nil, err
	}
	scores, why, changed := make([]float64, len(in)), []*sheaf.Explanation(nil), false
	if explained(in) {
		why = make([]*sheaf.Explanation, len(in))
	}
	for i := range in {
		h := &in[i]
		scores[i] = h.Score
		f, ok := b.factor(h, b.chunk(h))
		if why != nil {
			why[i] = h.Explanation
		}
		if !ok {
			continue
		}
		changed = true
		scores[i] = b.blend.apply(h.Score, f.value)
		if h.Explanation != nil {
			why[i] = b.blend.explain(b.stage, h, scores[i], &f)
		}
	}
	if !changed && in.Sorted() {
		return in, nil
	}
	out := rescored(in, scores, why, len(in))
	return out, out.Valid(b.stage)
}

// ofDocument is the factor of a chunk's document; nil is a chunk that nobody knows.
func ofDocument(factors map[sheaf.ID]*factor, c *sheaf.Node) (factor, bool) {
	if c == nil {
		return factor{}, false
	}
	f := factors[c.Doc]
	if f == nil {
		return factor{}, false
	}
	return *f, true
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

func (b Blend) explain(stage string, h *sheaf.Hit, score float64, by *factor) *sheaf.Explanation {
	before := *h.Explanation
	var e sheaf.Explanation
	switch {
	case b == Add:
		e = combined(stage, score, sheaf.CombineSum, before,
			combined("factor - 1", by.value-1, sheaf.CombineDifference, *by.why, part("one", 1)))
	case h.Score < 0 && by.value > 0:
		e = combined(stage+" of a negative score", score, sheaf.CombineQuotient, before, *by.why)
	default:
		e = combined(stage, score, sheaf.CombineProduct, before, *by.why)
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
