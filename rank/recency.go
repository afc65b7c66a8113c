package rank

import (
	"fmt"
	"math"
	"time"

	"sheaf"
)

// AgeCurve says how the age of a document lowers its score.
type AgeCurve uint8

// These are the curves, from an age to a factor.
const (
	// Hyperbolic is 1/(1 + Decay * age in years), as in Onyx and Vespa.
	Hyperbolic AgeCurve = iota
	// HalfLife halves the factor each time the age grows by [Recency.HalfLife].
	HalfLife
)

// UndatedAge is the age that Onyx gives to a document without a date: about 91 days.
const UndatedAge = 7_890_000 * time.Second

// year is 365 days, the unit of ages.
const year = 365 * 24 * time.Hour

// Recency lowers old documents. The factor of a document is never below Floor. A date in the future gives age 0.
//
// Hyperbolic: factor = 1/(1 + Decay * age in years). Example with Decay 0.5, Floor 0.75 and Undated [UndatedAge]: an
// age of half a year gives 1/(1 + 0.25) = 0.8. An age of 243 days or more gives 0.75. A document without a date gets
// 0.8888.
type Recency struct {
	Curve    AgeCurve
	Decay    float64       // 0..1000, for Hyperbolic
	HalfLife time.Duration // above 0, for the curve HalfLife
	Floor    float64       // 0..1
	// Undated is the age of a document without a date.
	Undated time.Duration
	Blend   Blend
}

// Apply implements [Stage].
func (r Recency) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "recency"
	if err := env.check(stage, in); err != nil {
		return nil, err
	}
	if env.Now.IsZero() {
		return nil, sheaf.Invalidf("recency: the time of the query is not known")
	}
	return boost(stage, r.Blend, 0, in, func(h *sheaf.Hit) (float64, func() sheaf.Explanation) {
		c := env.Facts.Node(h.ID)
		if c == nil {
			return 1, nil
		}
		var date sheaf.Dated
		if o := outlineOf(env.Facts, c); o != nil {
			date = o.Date
		}
		dated, age := date.Source != 0, r.Undated
		if dated {
			age = env.Now.Sub(date.Time)
		}
		return r.Factor(age), func() sheaf.Explanation { return r.explain(date, dated, max(age, 0)) }
	})
}

// Factor returns the factor for an age. A negative age counts as 0.
func (r Recency) Factor(age time.Duration) float64 {
	years := max(0, age.Seconds()/year.Seconds())
	if r.Curve == HalfLife {
		return max(math.Pow(0.5, years*year.Seconds()/r.HalfLife.Seconds()), r.Floor)
	}
	return max(1/(1+r.Decay*years), r.Floor)
}

func (r Recency) explain(date sheaf.Dated, dated bool, age time.Duration) sheaf.Explanation {
	label := "undated"
	if dated {
		label = fmt.Sprintf("dated %s (%s)", date.Time.UTC().Format(time.DateOnly), date.Source)
	}
	years := age.Seconds() / year.Seconds()
	var raw sheaf.Explanation
	if r.Curve == HalfLife {
		lives := age.Seconds() / r.HalfLife.Seconds()
		raw = combined(label, math.Pow(0.5, lives), sheaf.CombinePower, part("half", 0.5), part("half lives", lives))
	} else {
		raw = combined(label, 1/(1+r.Decay*years), sheaf.CombineQuotient, part("one", 1),
			combined("1 + decay x age", 1+r.Decay*years, sheaf.CombineSum, part("one", 1),
				combined("decay x age", r.Decay*years, sheaf.CombineProduct, part("decay", r.Decay), part("age in years", years))))
	}
	why := combined("recency", r.Factor(age), sheaf.CombineMax, raw, part("floor", r.Floor))
	details := map[string]sheaf.Value{}
	if dated {
		details["date"] = sheaf.TextValue(date.Time.UTC().Format(time.DateOnly))
	}
	return called(why, sheaf.KindRecency, details)
}
