package rank

import (
	"fmt"

	"sheaf"
)

// Method says how the scores of several hits become the score of one answer. The n scores are s1 >= s2 >= ...
type Method uint8

// These are the methods of computing the score of an answer.
const (
	// MaxP is s1. One strong passage is enough (Dai and Callan: Deeper Text Understanding for IR with Contextual Neural
	// Language Modeling, 2019).
	MaxP Method = iota
	// TopMSum is s1 + ... + sM. It rewards strong hits and many hits.
	TopMSum
	// TopMAvg is TopMSum divided by the number of its terms.
	TopMAvg
	// RRFPerDoc is the sum of 1/(K + i) for i = 1..n. Only the number of hits counts.
	RRFPerDoc
	// DecayedSum is s1 + Decay s2 + Decay^2 s3 + ... It has at most M terms.
	DecayedSum
	// RSS is the square root of the sum of the squares of all scores. The square and the root keep the sign of a
	// number, so a lower score never gives a higher result.
	RSS
)

// Scoring is a [Method] with its parameters.
type Scoring struct {
	Method Method
	// M is how many of the best scores count in TopMSum, TopMAvg and DecayedSum. If M is 0, no score counts.
	M int
	// Decay is the factor of DecayedSum, 0..1.
	Decay float64
	// K is the constant of RRFPerDoc, 1..1000.
	K int
}

// Score returns the score of an answer, or 0 without scores. scores are the scores of its hits in descending order.
//
// Example, scores 0.8, 0.6, 0.5, 0.4: MaxP gives 0.8. TopMSum with M 3 gives 1.9. DecayedSum with M 3 and Decay 0.95
// gives 0.8 + 0.57 + 0.45125 = 1.82125.
func (s Scoring) Score(scores []float64) float64 {
	if len(scores) == 0 {
		return 0
	}
	top := scores[:min(max(s.M, 0), len(scores))]
	var sum float64
	switch s.Method {
	case TopMSum, TopMAvg:
		for _, x := range top {
			sum += x
		}
		if s.Method == TopMAvg && len(top) > 0 {
			sum /= float64(len(top))
		}
	case DecayedSum:
		w := 1.0
		for _, x := range top {
			sum += w * x
			w *= s.Decay
		}
	case RRFPerDoc:
		for i := range scores {
			sum += 1 / float64(s.K+i+1)
		}
	case RSS:
		for _, x := range scores {
			sum += sheaf.SignedSquare(x)
		}
		sum = sheaf.SignedRoot(sum)
	default:
		sum = scores[0]
	}
	return sum
}

// explain returns an explanation of how the hits gave the score. The hits are best first. what names the stage.
func (s Scoring) explain(what string, score float64, hits []*sheaf.Hit) sheaf.Explanation {
	what = fmt.Sprintf("%s from %d matches", what, len(hits))
	if best := s.M; best < len(hits) && (s.Method == TopMSum || s.Method == TopMAvg || s.Method == DecayedSum) {
		what = fmt.Sprintf("%s, the best %d", what, best)
		hits = hits[:best]
	}
	parts := make([]sheaf.Explanation, 0, len(hits))
	w := 1.0
	for i, h := range hits {
		p := reason(h)
		p = combined(string(h.ID), h.Score, sheaf.CombineSum, p)
		switch s.Method {
		case DecayedSum:
			p = combined("decayed", w*h.Score, sheaf.CombineProduct, part(fmt.Sprintf("decay for place %d", i+1), w), p)
			w *= s.Decay
		case RRFPerDoc:
			k := float64(s.K + i + 1)
			p = combined("reciprocal place", 1/k, sheaf.CombineQuotient, part("one", 1),
				sheaf.Explanation{Label: fmt.Sprintf("k + place %d", i+1), Value: k, Parts: []sheaf.Explanation{p}})
		}
		parts = append(parts, p)
	}
	e := combined(what, score, sheaf.CombineSum, parts...)
	switch {
	case len(parts) == 0:
		e.Combine = sheaf.CombineNone
	case s.Method == MaxP:
		e.Combine = sheaf.CombineMax
	case s.Method == RSS:
		e.Combine = sheaf.CombineRSS
	case s.Method == TopMAvg:
		n := float64(len(parts))
		e.Value = score * n
		e = combined("mean, "+what, score, sheaf.CombineQuotient, e, part("number of scores", n))
	}
	return e
}
