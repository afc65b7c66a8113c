// Package distinct keeps lists of distinct values. Its main type is [List].
package distinct

import "slices"

// List is a list of distinct values, in the order in which they were added. The zero value is empty.
type List[T comparable] struct {
	// Values are the added values.
	Values []T
	known  map[T]bool // the values of a long list
}

// longList is the smallest length of a list in which Add uses a map to find a value. In a shorter list, Add compares
// the value with each element.
const longList = 32

// Add adds a value if the list does not have it yet.
func (l *List[T]) Add(v T) {
	if len(l.Values) < longList {
		if !slices.Contains(l.Values, v) {
			l.Values = append(l.Values, v)
		}
		return
	}
	if l.known == nil {
		l.known = make(map[T]bool, 2*longList)
		for _, w := range l.Values {
			l.known[w] = true
		}
	}
	if !l.known[v] {
		l.known[v] = true
		l.Values = append(l.Values, v)
	}
}
