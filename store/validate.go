package store

import (
	"fmt"
	"math"
	"slices"

	"sheaf"
)

// maxNesting limits the depth of nested queries and filters.
const maxNesting = 100

// Validate fails with sheaf.ErrInvalid if req is invalid for every store.
func (req Request) Validate() error {
	switch {
	case (req.Text == nil) == (req.Vector == nil):
		return sheaf.Invalidf("request: want words or a vector, not both or neither")
	case req.Limit < 1 || req.Limit > MaxLimit:
		return sheaf.Invalidf("request: limit is %d: must be within 1..%d", req.Limit, MaxLimit)
	}
	if err := validateFilter(req.Filter, 0); err != nil {
		return err
	}
	text := req.Text
	if v := req.Vector; v != nil {
		if len(v.Vector) == 0 {
			return sheaf.Invalidf("request: the vector is empty")
		}
		for i, x := range v.Vector {
			if x-x != 0 { // true for NaN and infinities
				return sheaf.Invalidf("request: component %d of the vector is %v: must be a finite number", i, x)
			}
		}
		if text = v.Matching; text == nil {
			return nil
		}
	}
	return text.validate()
}

// ValidatePlain is Validate for a store that is not a [Matcher]. It also returns sheaf.ErrUnsupported if only a Matcher
// can answer req.
func (req Request) ValidatePlain() error {
	if err := req.Validate(); err != nil {
		return err
	}
	if req.Vector != nil && req.Vector.Matching != nil {
		return fmt.Errorf("request: %w: a vector search restricted to words", sheaf.ErrUnsupported)
	}
	return nil
}

// ValidateParts returns sheaf.ErrUnsupported if a filter has more than limit parts. The message begins with the text in
// what, for example "postgres: search".
func ValidateParts(f sheaf.Filter, what string, limit int) error {
	if n := parts(f); n > limit {
		return fmt.Errorf("%s: %w: the filter has %d parts, the limit is %d: name the values of one column together, or "+
			"leave parts out", what, sheaf.ErrUnsupported, n, limit)
	}
	return nil
}

// parts counts the conditions on columns in f.
func parts(f sheaf.Filter) (n int) {
	inner, leaf := innerFilters(f)
	for _, part := range inner {
		n += parts(part)
	}
	if leaf && f != nil {
		n++
	}
	return n
}

// innerFilters returns the filters inside f. If f is a condition on a column, it returns none, and leaf is true.
func innerFilters(f sheaf.Filter) (inner []sheaf.Filter, leaf bool) {
	switch f := f.(type) {
	case sheaf.And:
		return f, false
	case sheaf.Or:
		return f, false
	case sheaf.Not:
		return []sheaf.Filter{f.Filter}, false
	}
	return nil, true
}

func (t *TextRequest) validate() error {
	if err := validateQuery(t.Query, 0); err != nil {
		return err
	}
	if len(t.Fields) == 0 {
		return sheaf.Invalidf("request: no fields to search")
	}
	for i, f := range t.Fields {
		if !(f.Weight > 0) || f.Weight > 1e6 {
			return sheaf.Invalidf("request: weight of field %q is %v: must be above 0 and at most 1000000", f.Name, f.Weight)
		}
		if slices.ContainsFunc(t.Fields[:i], func(g FieldWeight) bool { return g.Name == f.Name }) {
			return sheaf.Invalidf("request: field %q is listed twice", f.Name)
		}
	}
	switch {
	case !(t.K1 >= 0) || t.K1 > 1000:
		return sheaf.Invalidf("request: k1 is %v: must be within 0..1000", t.K1)
	case !(t.B >= 0 && t.B <= 1):
		return sheaf.Invalidf("request: b is %v: must be within 0..1", t.B)
	case !(t.TieBreaker >= 0 && t.TieBreaker <= 1):
		return sheaf.Invalidf("request: tie breaker is %v: must be within 0..1", t.TieBreaker)
	case t.Combine > CombineBM25F:
		return sheaf.Invalidf("request: unknown way %d to combine fields", t.Combine)
	case t.Statistics > StatisticsCandidates:
		return sheaf.Invalidf("request: unknown statistics %d", t.Statistics)
	}
	return validateFilter(t.Among, 0)
}

// validateQuery checks the numbers in a query, and its depth. A nil part is valid: it matches nothing.
func validateQuery(q sheaf.TextQuery, depth int) error {
	if depth > maxNesting {
		return sheaf.Invalidf("request: the query nests more than %d deep", maxNesting)
	}
	switch q := q.(type) {
	case nil, sheaf.Match, sheaf.Prefix:
		return nil
	case sheaf.Phrase:
		if q.Slop < 0 {
			return sheaf.Invalidf("request: slop of phrase %q is %d: must be 0 or more", q.Text, q.Slop)
		}
		return nil
	case sheaf.Fuzzy:
		if q.Distance < 1 || q.Distance > 2 {
			return sheaf.Invalidf("request: distance of fuzzy %q is %d: must be 1 or 2", q.Text, q.Distance)
		}
		if q.Same < 0 {
			return sheaf.Invalidf("request: fuzzy %q begins with the same %d characters: must be 0 or more", q.Text, q.Same)
		}
		return nil
	case sheaf.Boost:
		if !(q.Factor > 0) || q.Factor > 1e6 {
			return sheaf.Invalidf("request: factor of a boost is %v: must be above 0 and at most 1000000", q.Factor)
		}
		return validateQuery(q.Query, depth+1)
	case sheaf.Bool:
		for _, parts := range [][]sheaf.TextQuery{q.Must, q.Should, q.MustNot} {
			for _, part := range parts {
				if err := validateQuery(part, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return sheaf.Invalidf("request: a query of unknown kind %T", q)
}

// validateFilter returns an error for a filter that contains nil. Only a whole filter may be nil.
func validateFilter(f sheaf.Filter, depth int) error {
	if depth > maxNesting {
		return sheaf.Invalidf("request: the filter nests more than %d deep", maxNesting)
	}
	if f == nil && depth > 0 {
		return sheaf.Invalidf("request: a part of the filter is nil")
	}
	inner, _ := innerFilters(f)
	for _, part := range inner {
		if err := validateFilter(part, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Validate fails with sheaf.ErrInvalid if b is invalid for every store. A batch is invalid if an ID or document is
// missing, or if a field appears twice. It is also invalid if a vector field has no passages, or a passage is no unit
// vector.
func (b Batch) Validate() error {
	for i := range b.Chunks {
		c := &b.Chunks[i]
		if c.ID == "" || c.Doc == "" {
			return sheaf.Invalidf("write: chunk %q of document %q: neither may be empty", c.ID, c.Doc)
		}
		for j, f := range c.Fields {
			if slices.ContainsFunc(c.Fields[:j], func(g Field) bool { return g.Name == f.Name }) {
				return sheaf.Invalidf("write %s: field %q is given twice", c.ID, f.Name)
			}
		}
		for j, v := range c.Vectors {
			if slices.ContainsFunc(c.Vectors[:j], func(w Vectors) bool { return w.Name == v.Name }) {
				return sheaf.Invalidf("write %s: vector field %q is given twice", c.ID, v.Name)
			}
			if len(v.Passages) == 0 {
				return sheaf.Invalidf("write %s: vector field %q has no passages", c.ID, v.Name)
			}
			for n, p := range v.Passages {
				if !IsUnit(p, len(p)) {
					return sheaf.Invalidf("write %s: passage %d of vector field %q must have length 1", c.ID, n, v.Name)
				}
			}
		}
	}
	return nil
}

// IsUnit reports whether v has this many dimensions and length 1, within the precision of float32.
func IsUnit(v []float32, dims int) bool {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return len(v) == dims && math.Abs(square-1) < 0.01
}
