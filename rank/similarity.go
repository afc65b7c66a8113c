package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Similarity is the form in which a system gives the similarity of two vectors. Each form rises with the cosine, so the
// form does not change the order in one branch. But the form can change the result of a fusion.
type Similarity uint8

// These are the forms of a score. c is the cosine.
const (
	// Closeness is 1/(1 + arccos c), as in Vespa for angular distance.
	Closeness Similarity = iota
	// HalfCosine is (1 + c)/2, as in Lucene, OpenSearch and Elasticsearch.
	HalfCosine
)

// Of returns the score of this form for the cosine c. A cosine outside -1..1 counts as -1 or 1.
//
// Example, 45 degrees: Closeness 0.5601, HalfCosine 0.8536.
func (s Similarity) Of(c float64) float64 {
	c = min(max(c, -1), 1)
	if s == HalfCosine {
		return (1 + c) / 2
	}
	return 1 / (1 + math.Acos(c))
}

// AsSimilarity changes the scores of a vector branch from cosines to another form.
type AsSimilarity struct{ To Similarity }

// Apply implements [Stage].
func (a AsSimilarity) Apply(in sheaf.Ranking, _ Env) (sheaf.Ranking, error) {
	if err := in.Valid("similarity"); err != nil {
		return nil, err
	}
	label := "1 / (1 + arccos of the cosine)"
	if a.To == HalfCosine {
		label = "(1 + cosine) / 2"
	}
	out := slices.Clone(in)
	for i := range out {
		h := &out[i]
		h.Score = a.To.Of(h.Score)
		if h.Explanation != nil {
			h.Explanation = &sheaf.Explanation{Label: label, Value: h.Score, Parts: []sheaf.Explanation{*h.Explanation}}
		}
	}
	out.Sort()
	return out, nil
}
