package rank

import (
	"math"
	"slices"

	"sheaf"
)

// Similarity is the form in which a system scores near vectors. Each form rises with the cosine, so
// it changes a fusion, but never the order of one branch.
type Similarity uint8

// The forms, of a cosine c.
const (
	// Closeness is 1/(1 + arccos c), as in Vespa for angular distance.
	Closeness Similarity = iota
	// HalfCosine is (1 + c)/2, as in Lucene, OpenSearch and Elasticsearch.
	HalfCosine
)

// Of returns the form of cosine c, which it clips to -1..1.
//
// Example, 45 degrees: Closeness 0.5601, HalfCosine 0.8536.
func (s Similarity) Of(c float64) float64 {
	c = min(max(c, -1), 1)
	if s == HalfCosine {
		return (1 + c) / 2
	}
	return 1 / (1 + math.Acos(c))
}

// AsSimilarity converts the scores of a vector branch, which are cosines.
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
