// Package distinct keeps lists of values that are there once each. Its main type is
// [List].
package distinct

import "slices"

// List is a list of values that are there once each, in the order in which they came. Its
// zero value is empty.
type List[T comparable] struct {
	// Values are what was added.
	Values []T
	known  map[T]bool // of a long list
}

// long is how many values are compared one after the other.
const long = 32

// Add adds a value that is not there yet.
func (l *List[T]) Add(v T) {
	if len(l.Values) < long {
		if !slices.Contains(l.Values, v) {
			l.Values = append(l.Values, v)
		}
		return
	}
	if l.known == nil {
		l.known = make(map[T]bool, 2*long)
		for _, w := range l.Values {
			l.known[w] = true
		}
	}
	if !l.known[v] {
		l.known[v] = true
		l.Values = append(l.Values, v)
	}
}
