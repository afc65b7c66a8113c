package rank

import (
	"cmp"
	"math"
	"strings"

	"sheaf"
)

// PropertyCurve says how the number in a property becomes a factor.
type PropertyCurve uint8

// These are the curves, from a number to a factor.
const (
	// Feedback turns votes b into a factor of 0.5..2: 2/(1 + e^(-b/3)) for b >= 0, else 0.5 + 1/(1 + e^(-b/3)). Onyx
	// boosts documents like this. Example: 3 gives 1.4621, -3 gives 0.7689, 0 gives 1.
	Feedback PropertyCurve = iota
	// Plain uses the number as the factor, as Onyx's aggregated chunk boost does.
	Plain
)

// Factor returns the factor for the number b. Plain has no factor for a negative b: it returns NaN.
func (c PropertyCurve) Factor(b float64) float64 {
	switch {
	case c == Plain && b < 0:
		return math.NaN()
	case c == Plain:
		return b
	case b < 0:
		return 0.5 + 1/(1+math.Exp(-b/3))
	}
	return 2 / (1 + math.Exp(-b/3))
}

// PropertyBoost raises or lowers documents by the number in a property. A document keeps its score if it lacks the
// property or if the value is not one number. It also keeps its score if the number is negative and the curve is Plain.
type PropertyBoost struct {
	// Name is the name of the property; case does not matter.
	Name  string
	Curve PropertyCurve
	Max   float64 // at least 1; 0 is no cap
	Blend Blend
}

// Apply implements [Stage].
func (b PropertyBoost) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "property boost"
	if err := cmp.Or(env.check(stage, in), capValid(stage, b.Max)); err != nil {
		return nil, err
	}
	if b.Name == "" {
		return nil, sheaf.Invalidf("%s: needs the name of a property and a known curve", stage)
	}
	return boost(stage, b.Blend, b.Max, in, func(h *sheaf.Hit) (float64, func() sheaf.Explanation) {
		c := env.Facts.Node(h.ID)
		if c == nil { // h is a document without a chunk of its own
			c = &sheaf.Node{Doc: h.ID}
		}
		v, ok := b.number(c, env.Facts)
		f := b.Curve.Factor(v)
		if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
			return 1, nil
		}
		return f, func() sheaf.Explanation { return b.explain(v, f) }
	})
}

func (b PropertyBoost) explain(v, f float64) sheaf.Explanation {
	why := part("property "+b.Name+" is "+number(v), f)
	if b.Curve == Feedback {
		logistic := combined("1 / (1 + e^-b/3)", 1/(1+math.Exp(-v/3)), sheaf.CombineLogistic, part("b/3", v/3))
		if v < 0 {
			why = combined(why.Label, f, sheaf.CombineSum, part("half", 0.5), logistic)
		} else {
			why = combined(why.Label, f, sheaf.CombineProduct, part("two", 2), logistic)
		}
	}
	return called(why, sheaf.KindProperty,
		map[string]sheaf.Value{"name": sheaf.TextValue(b.Name), "number": sheaf.NumberValue(v)})
}

func (b PropertyBoost) number(c *sheaf.Node, facts Facts) (float64, bool) {
	d := outlineOf(facts, c)
	if d == nil {
		return 0, false
	}
	for _, p := range d.Numbers {
		if strings.EqualFold(p.Name, b.Name) {
			return p.Value, true
		}
	}
	return 0, false
}
