package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sheaf"
)

// Faceter is met by backends that can count what matches by the values of
// columns.
type Faceter interface {
	// Facets counts, for each of columns, how many of the chunks that req's
	// words, filters and bound match have each value; a chunk with several
	// values counts for each. One Facet for each of columns, in their order,
	// with at most limit values; req.Limit is not used. Requests by a vector
	// are sheaf.ErrUnsupported.
	Facets(ctx context.Context, req Request, columns []string, limit int) ([]Facet, error)
}

// Lists is b where it counts by values: it is a Faceter, and when it stands in front of
// another backend, as one that has a method Lists says, that one is too. Else it is nil.
func Lists(b Backend) Faceter {
	if front, ok := b.(interface{ Lists() bool }); ok && !front.Lists() {
		return nil
	}
	f, _ := b.(Faceter)
	return f
}

// Facet is how often the values of a column occur.
type Facet struct {
	Column string
	// Values are the most frequent ones first, equally frequent ones in the
	// order of sheaf.Value.Compare.
	Values []FacetValue
	// Distinct is the number of different values, those that are left out of
	// Values included.
	Distinct int
}

// FacetValue is a value and the number of chunks that have it, above 0.
type FacetValue struct {
	Value  sheaf.Value
	Chunks int
}

// NewFacet makes the facet of a column from the counts of its values.
func NewFacet(column string, counts map[sheaf.Value]int, limit int) Facet {
	f := Facet{Column: column, Distinct: len(counts), Values: make([]FacetValue, 0, len(counts))}
	for v, n := range counts {
		f.Values = append(f.Values, FacetValue{v, n})
	}
	slices.SortFunc(f.Values, func(a, b FacetValue) int {
		return cmp.Or(cmp.Compare(b.Chunks, a.Chunks), a.Value.Compare(b.Value))
	})
	f.Values = slices.Clip(f.Values[:min(len(f.Values), limit)])
	return f
}

// Sorter is met by backends that can order what matches by a column instead of
// by score.
type Sorter interface {
	// Sorted returns at most req.Limit of the chunks that req's words, filters
	// and bound match, in the order that by says; scores are those of
	// Retrieve. Requests by a vector are sheaf.ErrUnsupported.
	Sorted(ctx context.Context, req Request, by Order) (sheaf.Ranking, error)
}

// Order is an order of chunks by their values in a column. A chunk with several
// values counts by the one that comes first; chunks without one come last, and
// equal ones by ID.
type Order struct {
	Column string
	// Descending puts large values first; IDs rise all the same.
	Descending bool
}

// Compare orders two chunks by ID and key, which Key gave.
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

// Key is the value of values that comes first, the zero Value when there is none.
func (o Order) Key(values []sheaf.Value) sheaf.Value {
	var key sheaf.Value
	for _, v := range values {
		if d := v.Compare(key); key.IsZero() || o.Descending && d > 0 || !o.Descending && d < 0 {
			key = v
		}
	}
	return key
}

// ValidateColumns returns an error that wraps sheaf.ErrInvalid, or
// sheaf.ErrUnsupported for a vector, when req is no request that Facets and Sorted
// answer.
func (req Request) ValidateColumns() error {
	if err := req.Validate(); err != nil {
		return err
	}
	if req.Vector != nil {
		return fmt.Errorf("%w: request: facets and orders by a column are for words: everything is more or less near "+
			"to a vector", sheaf.ErrUnsupported)
	}
	return nil
}
