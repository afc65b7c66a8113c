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
func (a AsSimilarity) Apply(in sheaf.Ranking, _ Env) (sheaf.Ranking, error) {
	if a.To > HalfCosine {
		return nil, sheaf.Invalidf("similarity: unknown form %d", a.To)
	}
	if err := in.Valid("similarity"); err != nil {
		return nil, err
	}
	out := make(sheaf.Ranking, len(in))
	copy(out, in)
	for i := range out {
		out[i].Score = a.To.Of(in[i].Score)
		if e := in[i].Explanation; e != nil {
			label := "1 / (1 + arccos of the cosine)"
			if a.To == HalfCosine {
				label = "(1 + cosine) / 2"
			}
			out[i].Explanation = &sheaf.Explanation{Label: label, Value: out[i].Score, Parts: []sheaf.Explanation{*e}}
		}
	}
	out.Sort()
	return out, nil
}
