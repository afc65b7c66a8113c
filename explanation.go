package sheaf

import (
	"math"
	"slices"
)

// Combine says how the value of an explanation follows from the values of its parts.
type Combine string

// These are the ways to combine parts.
const (
	CombineNone       Combine = ""           // a leaf, or parts that only inform
	CombineSum        Combine = "sum"        // p1 + p2 + ...
	CombineDifference Combine = "difference" // p1 - p2 - ...
	CombineProduct    Combine = "product"    // p1 x p2 x ...
	CombineQuotient   Combine = "quotient"   // p1 / p2 / ...
	CombinePower      Combine = "power"      // p1 to the power of p2
	CombineMax        Combine = "max"        // the largest part
	CombineMin        Combine = "min"        // the smallest part
	CombineRSS        Combine = "rss"        // SignedRoot of the sum of the SignedSquare of each part
	CombineLog        Combine = "log"        // the natural logarithm of p1
	CombineLog2       Combine = "log2"       // the binary logarithm of p1
	CombineLogistic   Combine = "logistic"   // 1 / (1 + e^-p1)
)

// These are kinds of explanation. In each comment, the names of the kind's Details follow the colon.
const (
	KindTerm       = "term"         // what one term adds in a field: field, term, weight
	KindSimilarity = "similarity"   // nearness to the query's vector: field, passage
	KindFolder     = "folder_boost" // hits in the same folder: folder, documents, of, share
	KindGraph      = "graph_boost"  // links: backlinks, co_citations, shared_tags, connections
	KindNormalized = "normalized"   // the score on another scale: before

	KindLeg        = "leg"            // what a branch found: branch, rank, by (text or vector)
	KindOccurs     = "occurs"         // how often a term is in a field, times its weight: field
	KindName       = "name"           // how well the query names the document or the heading: of, name
	KindEqual      = "equal_name"     // a name equals the query: of (title, alias, file name or heading)
	KindPairs      = "word_pairs"     // words of the query side by side: pairs
	KindRecency    = "recency"        // the age of the document: date, if the document has one
	KindLevel      = "heading_level"  // the level of the heading: level
	KindProperty   = "property"       // a number among the document's properties: name, number
	KindPinned     = "pinned"         // raised above the others
	KindInOrder    = "document_order" // moved into the order of its document
	KindRerank     = "rerank"         // the score of the reranking model
	KindRepetition = "repetition"     // similar to a hit above
)

// Explanation is a number with the reasons for it. It is a tree: Combine says how the values of Parts give Value.
type Explanation struct {
	Label   string           `json:"label"`             // the number in a few words, for people
	Value   float64          `json:"value"`             // the number
	Kind    string           `json:"kind,omitempty"`    // the meaning of the number, for programs; "" without a kind
	Details map[string]Value `json:"details,omitempty"` // facts about the number; the kind decides their names
	Combine Combine          `json:"combine,omitempty"` // how the parts give the value, if they do
	Parts   []Explanation    `json:"parts,omitempty"`   // the numbers that give the value, in the order of the computation
}

// Recombine returns the value of e, computed again from the values of its leaves.
func (e Explanation) Recombine() float64 {
	if e.Combine == CombineNone || len(e.Parts) == 0 {
		return e.Value
	}
	values := make([]float64, len(e.Parts))
	for i, p := range e.Parts {
		values[i] = p.Recombine()
	}
	if v, ok := e.Combine.apply(values); ok {
		return v
	}
	return e.Value
}

// apply combines one or more values. ok is false if c is unknown.
func (c Combine) apply(values []float64) (v float64, ok bool) {
	with := func(next func(v, x float64) float64) float64 {
		v := values[0]
		for _, x := range values[1:] {
			v = next(v, x)
		}
		return v
	}
	switch c {
	case CombineSum:
		return with(func(v, x float64) float64 { return v + x }), true
	case CombineDifference:
		return with(func(v, x float64) float64 { return v - x }), true
	case CombineProduct:
		return with(func(v, x float64) float64 { return v * x }), true
	case CombineQuotient:
		return with(func(v, x float64) float64 { return v / x }), true
	case CombinePower:
		return with(math.Pow), true
	case CombineMax:
		return slices.Max(values), true
	case CombineMin:
		return slices.Min(values), true
	case CombineRSS:
		sum := 0.0
		for _, x := range values {
			sum += SignedSquare(x)
		}
		return SignedRoot(sum), true
	case CombineLog:
		return math.Log(values[0]), true
	case CombineLog2:
		return math.Log2(values[0]), true
	case CombineLogistic:
		return 1 / (1 + math.Exp(-values[0])), true
	}
	return 0, false
}

// SignedSquare returns the square of x with the sign of x.
func SignedSquare(x float64) float64 { return x * math.Abs(x) }

// SignedRoot undoes SignedSquare: it returns the square root of |x| with the sign of x.
func SignedRoot(x float64) float64 { return math.Copysign(math.Sqrt(math.Abs(x)), x) }
