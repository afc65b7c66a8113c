package rank

import (
	"fmt"
	"math"

	"sheaf"
)

// HeadingBoost raises chunks near the top of their document. A document, and a chunk under a heading of level 1, get
// Max. Each lower level gets Decay times the factor of the level above, but at least 1.
//
// Example, Max 1.3, Decay 0.9: levels 0 and 1 get 1.3, level 2 gets 1.17, level 3 gets 1.053.
//
// Source: ra's heading boost, which is 5 * 0.7^(depth-1) and may be below 1.
type HeadingBoost struct {
	Max   float64 // at least 1
	Decay float64 // above 0, at most 1
	Blend Blend
}

// Apply implements [Stage].
func (b HeadingBoost) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "heading boost"
	if err := env.check(stage, in); err != nil {
		return nil, err
	}
	return boost(stage, b.Blend, 0, in, func(h *sheaf.Hit) (float64, func() sheaf.Explanation) {
		c := env.Facts.Node(h.ID)
		if c == nil {
			return 1, nil
		}
		steps := float64(max(c.Depth-1, 0))
		decay := math.Pow(b.Decay, steps)
		v := max(b.Max*decay, 1)
		return v, func() sheaf.Explanation {
			level := combined("decay for the level", decay, sheaf.CombinePower,
				part("decay", b.Decay), part("levels below the first", steps))
			why := combined(fmt.Sprintf("heading level %d", c.Depth), v, sheaf.CombineMax,
				combined("decayed", b.Max*decay, sheaf.CombineProduct, part("at the top", b.Max), level), part("least", 1))
			return called(why, sheaf.KindLevel, map[string]sheaf.Value{"level": sheaf.NumberValue(float64(c.Depth))})
		}
	})
}
