package eval

import (
	"cmp"
	"slices"
	"strings"
)

// Change is the difference of one query's value between two columns.
type Change struct {
	Query string
	Text  string
	// Before is the value in the first column, After in the other column.
	Before, After float64
}

// Difference returns After minus Before.
func (c Change) Difference() float64 { return c.After - c.Before }

// Changes returns the queries whose values in a measure differ between the first column and this
// column, largest gain first, then by ID.
func (r *Report) Changes(column, measure int) []Change {
	var out []Change
	base, other := &r.Columns[0], &r.Columns[column]
	for id, before := range base.PerQuery {
		if after := other.PerQuery[id]; len(after) > measure && after[measure] != before[measure] {
			out = append(out, Change{id, r.Texts[id], before[measure], after[measure]})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Difference(), a.Difference()), strings.Compare(a.Query, b.Query))
	})
	return out
}
