package rank

import (
	"math"

	"sheaf"
)

// Similarity is a form of a vector's nearness that some system ranks by. All
// rise with the cosine, so they change fusion, never the order of one branch.
type Similarity uint8

// The forms, of a cosine c.
const (
	// Closeness is 1/(1 + arccos c): Vespa's, for angular distance.
	Closeness Similarity = iota
	// HalfCosine is (1 + c)/2: Lucene's, OpenSearch's and Elasticsearch's.
	HalfCosine
)

// Of is the form of cosine c, which is clipped to -1..1.
//
// Example, 45 degrees: Closeness 0.5601, HalfCosine 0.8536.
func (s Similarity) Of(c float64) float64 {
	c = min(max(c, -1), 1)
	if s == HalfCosine {
		return (1 + c) / 2
	}
	return 1 / (1 + math.Acos(c))
}

// AsSimilarity turns the scores of a vector branch, which are cosines, into
// another form.
type AsSimilarity struct{ To Similarity }

// Apply implements [Stage].
func (a AsSimilarity) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	return alone(a, in, env)
}

func (a AsSimilarity) work(r *Row, _ Env) error {
	if a.To > HalfCosine {
		return sheaf.Invalidf("similarity: unknown form %d", a.To)
	}
	if err := r.valid("similarity"); err != nil {
		return err
	}
	for i := range r.keys {
		k := &r.keys[i]
		k.score = a.To.Of(k.score)
		if r.why == nil || r.why[k.at] == nil {
			continue
		}
		label := "1 / (1 + arccos of the cosine)"
		if a.To == HalfCosine {
			label = "(1 + cosine) / 2"
		}
		r.why[k.at] = &sheaf.Explanation{Label: label, Value: k.score, Parts: []sheaf.Explanation{*r.why[k.at]}}
	}
	r.loose = true
	return nil
}
