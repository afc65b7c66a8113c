package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sheaf"
)

// Faceter is implemented by stores that can count matching chunks by the values of columns.
type Faceter interface {
	// Facets counts for each column how many matching chunks have each value. A chunk with several values counts for each.
	// A chunk matches if it passes the words, Filter and Within of req. Facets returns one Facet for each column, in the
	// order of columns, with at most limit values. It ignores req.Limit. Vector requests fail with sheaf.ErrUnsupported.
	Facets(ctx context.Context, req Request, columns []string, limit int) ([]Facet, error)
}

// Lists returns b as a Faceter, or nil if b cannot count by values. A store that wraps another store has a method
// Lists, which answers for the wrapped store.
func Lists(b Backend) Faceter {
	if front, ok := b.(interface{ Lists() bool }); ok && !front.Lists() {
		return nil
	}
	f, _ := b.(Faceter)
	return f
}

// Facet says how often the values of a column occur.
type Facet struct {
	Column string
	// Values are sorted by count, largest first, then by sheaf.Value.Compare.
	Values []FacetValue
	// Distinct is the number of different values, including those beyond the limit.
	Distinct int
}

// FacetValue is a value and the number of chunks that have it. The number is above 0.
type FacetValue struct {
	Value  sheaf.Value
	Chunks int
}

// NewFacet makes the facet of a column from the counts of its values, and keeps the first limit values. It sorts values
// with equal counts by Value.Compare, then by text.
func NewFacet(column string, counts map[sheaf.Value]int, limit int) Facet {
	f := Facet{Column: column, Distinct: len(counts), Values: make([]FacetValue, 0, len(counts))}
	for v, n := range counts {
		f.Values = append(f.Values, FacetValue{v, n})
	}
	slices.SortFunc(f.Values, func(a, b FacetValue) int {
		return cmp.Or(cmp.Compare(b.Chunks, a.Chunks), a.Value.Compare(b.Value), cmp.Compare(a.Value.Text, b.Value.Text))
	})
	f.Values = slices.Clip(f.Values[:min(len(f.Values), limit)])
	return f
}

// Sorter is implemented by stores that can order matching chunks by a column instead of by score.
type Sorter interface {
	// Sorted sorts the matching chunks by the order in the parameter by, and returns the first req.Limit. Each hit has the
	// score that Retrieve gives the chunk. Vector requests fail with sheaf.ErrUnsupported.
	Sorted(ctx context.Context, req Request, by Order) (sheaf.Ranking, error)
}

// Order sorts chunks by their values in a column. If a chunk has several values, the value that comes first counts.
// Chunks without a value come last. Chunks with equal values are sorted by ID.
type Order struct {
	Column string
	// Descending puts large values first. Chunks with equal values are still sorted by ascending ID.
	Descending bool
}

// Compare returns a negative number if chunk a comes before chunk b, and a positive number if after b. x is the key of
// a and y is the key of b: see [Order.Key].
func (o Order) Compare(a, b sheaf.ID, x, y sheaf.Value) int {
	switch {
	case x.IsZero() != y.IsZero():
		if x.IsZero() {
			return 1
		}
		return -1
	case o.Descending:
		x, y = y, x
	}
	return cmp.Or(x.Compare(y), cmp.Compare(a, b))
}

// Key returns the value that comes first in this order, or the zero Value if values is empty.
func (o Order) Key(values []sheaf.Value) sheaf.Value {
	var key sheaf.Value
	for _, v := range values {
		if d := v.Compare(key); key.IsZero() || o.Descending && d > 0 || !o.Descending && d < 0 {
			key = v
		}
	}
	return key
}

// ValidateColumns returns sheaf.ErrInvalid if req is invalid. If req is a vector request, it returns
// sheaf.ErrUnsupported, because Facets and Sorted answer only requests by words.
func (req Request) ValidateColumns() error {
	if err := req.Validate(); err != nil {
		return err
	}
	if req.Vector != nil {
		return fmt.Errorf("%w: request: a vector search has no facets and no order by a column: search by words",
			sheaf.ErrUnsupported)
	}
	return nil
}
