package query

import (
	"strings"

	"sheaf"
)

// A filter is no part of a query of words, so that it cannot be one of several
// alternatives with them. Tags and folders are fields too: beside OR they are looked
// for there. A tag of a whole document is found at the document, not at each of its
// parts, and a folder wherever its names follow each other in a path. That will do for
// what is found besides: to refuse it, or to want it of the part that holds other words
// or tags, would let through and leave out the wrong parts of a document, so such a
// filter has no words.

// tagWords find a tag in the field of tags; of a tag that only begins so, a single
// word.
func tagWords(tag string, begins bool) sheaf.TextQuery {
	switch {
	case !begins:
		return sheaf.Phrase{Text: tag, Field: sheaf.FieldTags}
	case !strings.ContainsFunc(tag, func(r rune) bool { return !searchable(r) }):
		return sheaf.Prefix{Text: tag, Field: sheaf.FieldTags}
	}
	return nil
}

// signed is a filter that refuses what it let through, when it stands behind a dash.
func (a part) signed() part {
	if a.sign != '-' {
		return a
	}
	a.filter, a.words, a.sign = sheaf.Not{Filter: a.filter}, nil, 0
	return a
}

// eitherWords find what the filters of any alternative let through; nil when those of
// one have no words.
func eitherWords(alternatives []part) sheaf.TextQuery {
	var any sheaf.Bool
	for _, a := range alternatives {
		if a = a.signed(); a.words == nil {
			return nil
		}
		any.Should = append(any.Should, a.words)
	}
	return any
}
