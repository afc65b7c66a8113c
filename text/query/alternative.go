package query

import (
	"strings"

	"sheaf"
)

// A query of words has no filters, so a filter cannot be an alternative beside words. Tags and
// folders are also fields, and beside OR they are searched there. A tag of a whole document then
// matches only the document's own chunk, and a folder matches any path with its names in sequence.
// That is enough for additional hits, but not to refuse or require a filter, which would keep or
// drop the wrong parts of a document. Such a filter gets no words.

// tagWords returns the words that find a tag in the field of tags; for the beginning of a tag only
// a single word works.
func tagWords(tag string, begins bool) sheaf.TextQuery {
	switch {
	case !begins:
		return sheaf.Phrase{Text: tag, Field: sheaf.FieldTags}
	case !strings.ContainsFunc(tag, func(r rune) bool { return !searchable(r) }):
		return sheaf.Prefix{Text: tag, Field: sheaf.FieldTags}
	}
	return nil
}

// signed returns a filter, negated if a dash comes before it.
func (a part) signed() part {
	if a.sign != '-' {
		return a
	}
	a.filter, a.words, a.sign = sheaf.Not{Filter: a.filter}, nil, 0
	return a
}

// eitherWords returns words for what the filters of any alternative match; nil when a filter has no
// words.
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
