package rank

import (
	"math"
	"slices"
	"sort"

	"sheaf"
)

// Scale says how [Normalize] changes scores.
type Scale uint8

// These are the scales. A clipped scale replaces scores below Low or above High by these bounds.
const (
	// ScaleMinMax maps the lowest score to Low and the highest to High. Equal scores, and the score of a single hit,
	// become the middle. With Low 0.02 and High 0.98, no score looks certain.
	ScaleMinMax Scale = iota
	// ScaleTanh is 0.5 + 0.5 tanh(z/Spread), clipped; z = (s - mean)/deviation. Equal scores become 0.5.
	ScaleTanh
	// ScaleSigmoid is 1/(1 + e^-((s - Middle)/Spread)), clipped.
	ScaleSigmoid
	// ScalePercentile is the share of the other hits that have a lower score, mapped into Low..High. A hit with an
	// equal score counts half. The score of a single hit becomes the middle.
	ScalePercentile
	// ScaleMax, ScaleZScore and ScaleL2 compute NormMax, NormZScore and NormL2, without clipping.
	ScaleMax
	ScaleZScore
	ScaleL2
)

// Normalize changes the scores of a ranking to a scale. The order of hits stays the same.
type Normalize struct {
	Scale     Scale
	Low, High float64 // Low below High
	Spread    float64 // above 0; for ScaleTanh and ScaleSigmoid
	Middle    float64 // for ScaleSigmoid
}

// Apply implements [Stage].
func (n Normalize) Apply(in sheaf.Ranking, _ Env) (sheaf.Ranking, error) {
	const stage = "normalize"
	if err := in.Valid(stage); err != nil {
		return nil, err
	}
	if n.Scale < ScaleMax && !(n.Low < n.High) {
		return nil, sheaf.Invalidf("%s: low is %v and high %v: low must be below high", stage, n.Low, n.High)
	}
	scores := make([]float64, len(in))
	for i := range in {
		scores[i] = in[i].Score
	}
	norms := [...]Norm{ScaleMinMax: NormMinMax, ScaleTanh: NormZScore, ScaleMax: NormMax, ScaleZScore: NormZScore,
		ScaleL2: NormL2}
	measured := measure(norms[n.Scale], "scores", scores)
	out := slices.Clone(in)
	for i := range out {
		out[i].Score = n.value(&measured, in, i)
		if in[i].Explanation != nil {
			e := n.explain(&measured, &in[i], out[i].Score)
			e.Kind, e.Details = sheaf.KindNormalized, map[string]sheaf.Value{"before": sheaf.NumberValue(in[i].Score)}
			out[i].Explanation = &e
		}
	}
	// Equal scores may not be in the order of their IDs; keep the given order.
	return out, out.Valid(stage)
}

func (n Normalize) value(s *statistics, in sheaf.Ranking, i int) float64 {
	x := in[i].Score
	switch n.Scale {
	case ScaleMinMax:
		if s.lo == s.hi {
			return (n.Low + n.High) / 2
		}
		return n.clip(n.Low + (x-s.lo)/(s.hi-s.lo)*(n.High-n.Low))
	case ScaleTanh:
		if s.spread == 0 {
			return n.clip(0.5)
		}
		return n.clip(0.5 + 0.5*math.Tanh(s.value(x)/n.Spread))
	case ScaleSigmoid:
		return n.clip(1 / (1 + math.Exp(-(x-n.Middle)/n.Spread)))
	case ScalePercentile:
		return n.percentile(in, x)
	}
	return s.value(x)
}

func (n Normalize) clip(v float64) float64 { return min(max(v, n.Low), n.High) }

func (n Normalize) percentile(in sheaf.Ranking, x float64) float64 {
	if len(in) < 2 {
		return (n.Low + n.High) / 2
	}
	// Scores fall, so scores equal to x are neighbors.
	first := sort.Search(len(in), func(i int) bool { return in[i].Score <= x })
	after := sort.Search(len(in), func(i int) bool { return in[i].Score < x })
	below, same := float64(len(in)-after), float64(after-first)
	return n.Low + (below+(same-1)/2)/float64(len(in)-1)*(n.High-n.Low)
}

func (n Normalize) explain(s *statistics, h *sheaf.Hit, v float64) sheaf.Explanation {
	x := *h.Explanation
	lo, hi := part("lowest", n.Low), part("highest", n.High)
	clip := func(e sheaf.Explanation) sheaf.Explanation {
		return combined("clipped", v, sheaf.CombineMax, combined("at most", min(e.Value, n.High), sheaf.CombineMin, e, hi),
			lo)
	}
	switch {
	case n.Scale == ScaleMinMax && s.lo != s.hi:
		measured := *s
		measured.norm = NormMinMax
		share := measured.explain(h.Score, x)
		span := combined("range", n.High-n.Low, sheaf.CombineDifference, hi, lo)
		scaled := combined("share of the range", share.Value*(n.High-n.Low), sheaf.CombineProduct, share, span)
		return clip(combined("min-max", n.Low+scaled.Value, sheaf.CombineSum, lo, scaled))
	case n.Scale == ScaleTanh && s.spread != 0:
		// 0.5 + 0.5 tanh(y) is the logistic function of 2y.
		z := s.explain(h.Score, x)
		twice := combined("2 z / spread", 2*z.Value/n.Spread, sheaf.CombineQuotient,
			combined("2 z", 2*z.Value, sheaf.CombineProduct, part("two", 2), z), part("spread", n.Spread))
		return clip(combined("tanh", 1/(1+math.Exp(-twice.Value)), sheaf.CombineLogistic, twice))
	case n.Scale == ScaleSigmoid:
		arg := combined("(score - middle) / spread", (h.Score-n.Middle)/n.Spread, sheaf.CombineQuotient,
			combined("score - middle", h.Score-n.Middle, sheaf.CombineDifference, x, part("middle", n.Middle)),
			part("spread", n.Spread))
		return clip(combined("sigmoid", 1/(1+math.Exp(-arg.Value)), sheaf.CombineLogistic, arg))
	case n.Scale >= ScaleMax:
		return s.explain(h.Score, x)
	case n.Scale == ScalePercentile:
		return sheaf.Explanation{Label: "percentile", Value: v, Parts: []sheaf.Explanation{x}}
	}
	return sheaf.Explanation{Label: "all scores are equal", Value: v, Parts: []sheaf.Explanation{x}}
}
