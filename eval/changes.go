package eval

import (
	"cmp"
	"slices"
	"strings"
)

// Change says how the value of one query differs between two columns.
type Change struct {
	Query string
	Text  string
	// Before is the value in the first column. After is the value in the other column.
	Before, After float64
}

// Difference returns After minus Before.
func (c Change) Difference() float64 { return c.After - c.Before }

// Changes returns the queries whose value in a measure differs between the first column and another column. The
// parameters are the indexes of the other column and of the measure. The largest gain comes first. Equal gains are
// sorted by the query's ID.
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
