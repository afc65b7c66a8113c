package rank

import (
	"strconv"

	"sheaf"
)

func part(label string, value float64) sheaf.Explanation {
	return sheaf.Explanation{Label: label, Value: value}
}

// combined returns an explanation with parts. how says how value is computed from the values of the parts.
func combined(label string, value float64, how sheaf.Combine, parts ...sheaf.Explanation) sheaf.Explanation {
	return sheaf.Explanation{Label: label, Value: value, Combine: how, Parts: parts}
}

// called adds a kind and details to an explanation, for programs that read explanations. details may be nil.
func called(e sheaf.Explanation, kind string, details map[string]sheaf.Value) sheaf.Explanation {
	e.Kind, e.Details = kind, details
	return e
}

// reason returns the explanation of h. If h has none, it returns an explanation with only the score.
func reason(h *sheaf.Hit) sheaf.Explanation {
	if h.Explanation != nil {
		return *h.Explanation
	}
	return part("score", h.Score)
}

// number returns v in the shortest form that keeps its exact value.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
