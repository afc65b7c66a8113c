package rank_test

import (
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/rank"
)

// TestNegativeScoresNeverRaise checks that a lower score never gives a higher one, even for negative z-scores and
// cosines.
func TestNegativeScoresNeverRaise(t *testing.T) {
	legs := []rank.Leg{
		leg("text", 1, hit("best", 9), hit("middle", 5), hit("worst", -9)),
		leg("vector", 1, hit("best", 3), hit("middle", 1), hit("worst", -8)),
	}
	for norm := rank.NormNone; norm <= rank.NormShare; norm++ {
		out := fuse(t, rank.Scores{Norm: norm, Mean: rank.MeanRSS}, legs...)
		equal(t, "first", out[0].ID, sheaf.ID("best"))
		equal(t, "last", out[2].ID, sheaf.ID("worst"))
	}
	rss := rank.Scoring{Method: rank.RSS}
	equal(t, "passages", rss.Score([]float64{-3, -4}), -5.0)
	equal(t, "passages on both sides of 0", rss.Score([]float64{5, -3}), 4.0)
	e := sheaf.Explanation{Combine: sheaf.CombineRSS, Parts: []sheaf.Explanation{{Value: -3}, {Value: -4}}}
	equal(t, "explained", e.Recombine(), -5.0)
}

// TestNothingToFuse checks that legs without hits give an empty ranking, and no scores give 0.
func TestNothingToFuse(t *testing.T) {
	fusions := []rank.Fusion{rank.RRF{K: 60}, rank.RRF{K: 60, Repeats: true, Unit: true}}
	for mean := rank.MeanSum; mean <= rank.MeanRSS; mean++ {
		for norm := rank.NormNone; norm <= rank.NormShare; norm++ {
			fusions = append(fusions, rank.Scores{Norm: norm, Mean: mean})
		}
	}
	for _, f := range fusions {
		for _, legs := range [][]rank.Leg{nil, {}, {leg("text", 1)}, {leg("text", 1), leg("vector", 2)}} {
			out, err := f.Fuse(legs)
			check.That(t, err == nil && out != nil && len(out) == 0, "%#v of %v: got %v, %v", f, legs, out, err)
		}
	}
	for method := rank.MaxP; method <= rank.RSS; method++ {
		for _, scores := range [][]float64{nil, {}} {
			s := rank.Scoring{Method: method, M: 3, Decay: 0.5, K: 60}
			equal(t, "score of none", s.Score(scores), 0.0)
		}
	}
	equal(t, "score of a negative m", rank.Scoring{Method: rank.TopMSum, M: -1}.Score([]float64{1}), 0.0)
}
