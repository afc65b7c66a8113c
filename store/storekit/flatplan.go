package storekit

import (
	"errors"
	"slices"
)

// Flat is a plan for stores that score only plain words: lists of terms. A list matches if one of its terms matches.
type Flat struct {
	// Must, Should and MustNot have the same meaning as in [Bool]. A list without terms matches nothing.
	Must, Should, MustNot [][]Term
	// All means that everything matches. Must and Should are then empty.
	All bool
}

// These are the errors for parts of a query that are not plain words.
var (
	errPhrase = errors.New("phrases, and words of several parts: leave out the quotation marks, or the mark or field " +
		"before the word, or use another store")
	errExpand = errors.New("prefixes, fuzzy words and single characters of scripts without spaces: leave out * and ~, " +
		"or use another store")
	errNested = errors.New("words that nest more than one deep: use another store")
)

// Flat returns the plan as lists of terms. If a part is not plain words, Flat fails and the error names the part.
func (p *Plan) Flat() (Flat, error) {
	root, ok := p.Root.(Bool)
	if !ok {
		root = Bool{Must: []Node{p.Root}}
	}
	out := Flat{All: root.All}
	for _, part := range []struct {
		from []Node
		to   *[][]Term
	}{{root.Must, &out.Must}, {root.Should, &out.Should}, {root.MustNot, &out.MustNot}} {
		for _, n := range part.from {
			list, err := flat(n)
			if err != nil {
				return Flat{}, err
			}
			*part.to = append(*part.to, list)
		}
	}
	return out, nil
}

// flat returns the terms of n. A chunk matches n if it has at least one of them.
func flat(n Node) ([]Term, error) {
	switch n := n.(type) {
	case Term:
		return []Term{n}, nil
	case Phrase:
		return nil, errPhrase
	case Expand:
		return nil, errExpand
	case Bool:
		if n.All || len(n.Must) > 1 || len(n.Must) == 1 && len(n.Should) > 0 || len(n.MustNot) > 0 {
			return nil, errNested
		}
		var out []Term
		for _, part := range slices.Concat(n.Must, n.Should) {
			list, err := flat(part)
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
		}
		return out, nil
	}
	return nil, errNested
}
