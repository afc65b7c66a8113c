package storekit

import (
	"fmt"
	"strings"

	"sheaf"
	"sheaf/store"
)

// Made is what a store says it was made with. Stores write it as JSON, beside what else they need to know.
type Made struct {
	Analyzer string  `json:"analyzer"`
	K1       float64 `json:"k1"`
	B        float64 `json:"b"`
}

// Same returns an error that wraps store.ErrMadeOtherwise when a store that was made so cannot answer as need asks.
// place is what holds the store, such as "index", in the advice.
func (m Made) Same(need Made, place string) error {
	switch {
	case m.Analyzer != need.Analyzer:
		return fmt.Errorf("%w: the %s was made with the analyzer %q, and this program asks for %q: "+
			"fill it again, or fill another %[2]s", store.ErrMadeOtherwise, place, m.Analyzer, need.Analyzer)
	case m.K1 != need.K1 || m.B != need.B:
		return fmt.Errorf("%w: the %s was made with k1 %v and b %v, and %v and %v are asked for: "+
			"name the former, fill it again, or fill another %[2]s",
			store.ErrMadeOtherwise, place, m.K1, m.B, need.K1, need.B)
	}
	return nil
}

// SameVersion returns an error that wraps sheaf.ErrUnsupported when another version of the program made a store.
func SameVersion(made, reads int, place string) error {
	if made == reads {
		return nil
	}
	return fmt.Errorf("%w: the %s has version %d, this program reads version %d: "+
		"use the program that made it, or another %[2]s", sheaf.ErrUnsupported, place, made, reads)
}

// PlainName reports whether a name has only lower-case letters, digits and the characters of marks, a letter first,
// and at most most bytes.
func PlainName(name, marks string, most int) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || strings.ContainsRune(marks, r))) {
			return false
		}
	}
	return name != "" && len(name) <= most
}
