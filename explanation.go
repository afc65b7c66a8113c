package sheaf

import (
	"math"
	"slices"
)

// Combine says how the parts of an explanation make up its value.
type Combine string

// The ways in which parts combine.
const (
	CombineNone    Combine = ""        // a leaf, or parts that only inform
	CombineSum     Combine = "sum"     // p1 + p2 + ...
	CombineProduct Combine = "product" // p1 x p2 x ...
	CombineMax     Combine = "max"     // the largest part
	CombineRSS     Combine = "rss"     // the square root of the sum of squares
)

// Explanation is a number with the reasons for it: a tree whose parts combine
// to the value.
type Explanation struct {
	// Label says in a few words what the number is.
	Label string `json:"label"`
	// Value is the number.
	Value float64 `json:"value"`
	// Combine says how Parts give Value; CombineNone when they do not.
	Combine Combine `json:"combine,omitempty"`
	// Parts are what the value is made of, in the order in which they are
	// combined.
	Parts []Explanation `json:"parts,omitempty"`
}

// Recombine computes the value of e from its leaves, combining upwards.
func (e Explanation) Recombine() float64 {
	if e.Combine == CombineNone || len(e.Parts) == 0 {
		return e.Value
	}
	values := make([]float64, len(e.Parts))
	for i, p := range e.Parts {
		values[i] = p.Recombine()
	}
	var v float64
	switch e.Combine {
	case CombineSum:
		for _, x := range values {
			v += x
		}
	case CombineProduct:
		v = 1
		for _, x := range values {
			v *= x
		}
	case CombineMax:
		v = slices.Max(values)
	case CombineRSS:
		for _, x := range values {
			v += x * x
		}
		v = math.Sqrt(v)
	default:
		return e.Value
	}
	return v
}
