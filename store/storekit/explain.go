package storekit

import (
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
)

// TermScore returns the explanation of the score of a term or form in a field. The field "" means all fields together.
func TermScore(term, field string, score float64) sheaf.Explanation {
	term = strings.TrimPrefix(term, FormMark)
	label := strconv.Quote(term)
	if field != "" {
		label += " in " + field
	}
	return sheaf.Explanation{Label: label, Value: score, Kind: sheaf.KindTerm,
		Details: map[string]sheaf.Value{"term": sheaf.TextValue(term), "field": sheaf.TextValue(field)}}
}

// Explain returns the explanation of the score of a chunk, made of explanations of terms. terms has a list for each
// field of the plan.
func (p *Plan) Explain(req *store.TextRequest, terms [][]sheaf.Explanation) *sheaf.Explanation {
	var fields []sheaf.Explanation
	for i, parts := range terms {
		if len(parts) == 0 {
			continue
		}
		field := sheaf.Explanation{Label: "all fields", Combine: sheaf.CombineSum, Parts: parts}
		if req.Combine != store.CombineBM25F {
			field.Label = p.Fields[i].Name
		}
		for _, part := range parts {
			field.Value += part.Value
		}
		fields = append(fields, field)
	}
	return ExplainFields(req, fields)
}

// ExplainFields combines the scores of fields into the score of a chunk.
func ExplainFields(req *store.TextRequest, fields []sheaf.Explanation) *sheaf.Explanation {
	root := &sheaf.Explanation{Label: "words", Combine: sheaf.CombineSum}
	best := 0
	for i, f := range fields {
		if f.Value > fields[best].Value {
			best = i
		}
	}
	for i, f := range fields {
		if req.Combine == store.CombineBest && i != best {
			f = sheaf.Explanation{Label: f.Label + ", tie breaker", Value: req.TieBreaker * f.Value,
				Combine: sheaf.CombineProduct, Parts: []sheaf.Explanation{{Label: "tie breaker", Value: req.TieBreaker}, f}}
		}
		root.Value += f.Value
		root.Parts = append(root.Parts, f)
	}
	return root
}
