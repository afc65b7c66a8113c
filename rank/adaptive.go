package rank

import (
	"slices"

	"sheaf"
)

// Adaptive keeps the hits that reach a threshold. The threshold is the larger of two numbers: Absolute, and Relative
// times the best score. Adaptive keeps at least Floor hits, even below the threshold, if the ranking has so many. It
// keeps at most Ceiling hits.
//
// With Diverse, one long document cannot take all places. Adaptive chooses the best hit of each document first, then
// other hits. It returns the chosen hits in the order of the ranking.
//
// Example, Floor 1, Ceiling 30, Relative 0.3: of the scores 0.9, 0.8, 0.1, 0.05 it keeps two. The threshold is 0.27.
//
// Source: the tiered search specification, adaptive cutoff.
type Adaptive struct {
	Floor    int
	Ceiling  int // at least Floor
	Relative float64
	Absolute float64
	Diverse  bool
}

// Apply implements [Stage].
func (a Adaptive) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "adaptive"
	if a.Ceiling < a.Floor {
		return nil, sheaf.Invalidf("%s: ceiling is %d: must be within %d..%v", stage, a.Ceiling, a.Floor, 1e6)
	}
	check := in.Valid
	if a.Diverse {
		check = func(stage string) error { return env.check(stage, in) }
	}
	if err := check(stage); err != nil {
		return nil, err
	}
	if len(in) == 0 {
		return sheaf.Ranking{}, nil
	}
	var first, rest, kept []int // indexes of hits
	seen := map[sheaf.ID]bool{}
	for i := range in {
		if a.Diverse {
			doc := documentOf(env.Facts, in[i].ID)
			if seen[doc] {
				rest = append(rest, i)
				continue
			}
			seen[doc] = true
		}
		first = append(first, i)
	}
	threshold := a.Threshold(in[0].Score)
	for _, i := range append(first, rest...) {
		if len(kept) < a.Ceiling && (len(kept) < a.Floor || in[i].Score >= threshold) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	out := make(sheaf.Ranking, len(kept))
	for k, i := range kept {
		out[k] = in[i]
	}
	return out, nil
}

// Threshold returns the score that a hit must reach. best is the best score of the ranking.
func (a Adaptive) Threshold(best float64) float64 { return max(a.Relative*best, a.Absolute) }
