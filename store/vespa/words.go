package vespa

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// words is the condition for the words of a request, and the weights of the fields.
type words struct {
	match   string
	weights map[string]float64 // by field of the schema
	// scale is the factor by which the server's scores are too large, because the query repeats terms.
	scale float64
}

// maxRepeats limits how often a query contains the same term.
const maxRepeats = 32

// words converts a request to a condition. If scores is false, each term appears only once, and its factor is ignored.
func (s *Store) words(q *query, req *store.TextRequest, scores bool) (words, error) {
	plan := storekit.Compile(s.o.Analyzer, req)
	root, err := plan.Flat()
	if err != nil {
		return words{}, s.fault(sheaf.ErrUnsupported, "%v", err)
	}
	out := words{weights: map[string]float64{}, scale: 1}
	for _, f := range plan.Fields {
		if !slices.Contains(sheaf.Fields[:], f.Name) {
			return out, sheaf.Invalidf("request: there is no field %q: must be one of %s", f.Name,
				strings.Join(sheaf.Fields[:], ", "))
		}
		out.weights[wordField(f.Name)] = f.Weight
	}
	if scores {
		if out.scale, err = s.scale(root); err != nil {
			return out, err
		}
	}
	w := writer{q: q, plan: plan, known: map[string]string{}}
	if scores {
		w.scale = out.scale
	}
	must := make([]string, len(root.Must))
	for i, part := range root.Must {
		must[i] = w.anyTerm(part)
	}
	should := make([]string, len(root.Should))
	for i, part := range root.Should {
		should[i] = w.anyTerm(part)
	}
	w.scale = 0 // what must not match does not score
	mustNot := make([]string, len(root.MustNot))
	for i, part := range root.MustNot {
		mustNot[i] = not(w.anyTerm(part))
	}
	switch {
	case root.All:
		out.match = everything
	case len(must) == 0:
		out.match = or(should...)
	case len(should) == 0 || !scores:
		out.match = and(must...)
	default:
		// The first argument selects chunks; all arguments score.
		out.match = and(must...)
		if rest := or(should...); out.match != nothing && rest != nothing {
			out.match = "rank(" + out.match + ", " + rest + ")"
		}
	}
	out.match = and(append([]string{out.match}, mustNot...)...)
	return out, nil
}

// scale returns the smallest whole number n, so that a query can express factors by repeating terms. For each scoring
// term, n times its factor is an integer in 1..maxRepeats. If there is no such n, scale returns sheaf.ErrUnsupported.
func (s *Store) scale(root storekit.Flat) (float64, error) {
	var factors []float64
	for _, part := range slices.Concat(root.Must, root.Should) {
		for _, t := range part {
			factors = append(factors, t.Factor)
		}
	}
	for scale := 1.0; scale <= maxRepeats; scale++ {
		fits := func(f float64) bool {
			n := f * scale
			return math.Abs(n-math.Round(n)) < 1e-9 && n > 0.5 && n <= maxRepeats
		}
		if !slices.ContainsFunc(factors, func(f float64) bool { return !fits(f) }) {
			return scale, nil
		}
	}
	return 0, s.fault(sheaf.ErrUnsupported, "words that count %v: Vespa's BM25 knows no weights of words, and "+
		"repeating them up to %d times makes no such ratio: use simpler ones, or another store", factors, maxRepeats)
}

// writer writes terms as conditions of YQL.
type writer struct {
	q     *query
	plan  storekit.Plan
	known map[string]string // parameters of terms
	scale float64           // 0 writes every term once
}

// anyTerm returns the condition that a chunk has at least one of the terms.
func (w *writer) anyTerm(list []storekit.Term) string {
	var parts []string
	for _, t := range list {
		param, ok := w.known[t.Text]
		if !ok {
			param = w.q.param(termWord(t.Text))
			w.known[t.Text] = param
		}
		for _, f := range t.Fields {
			one := fmt.Sprintf("%s contains ({implicitTransforms:false}%s)", wordField(w.plan.Fields[f].Name), param)
			for range max(1, int(math.Round(t.Factor*w.scale))) {
				parts = append(parts, one)
			}
		}
	}
	return or(parts...)
}
