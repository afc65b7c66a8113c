package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"sheaf"
)

// meaning returns the text of a query to embed. If the query has only filters, names of folders and files, forbidden
// words or punctuation, it returns "".
func meaning(q sheaf.Query) string {
	if b, ok := q.Words.(sheaf.Bool); ok && len(b.Must)+len(b.Should) == 0 || inPaths(q.Words) {
		return ""
	}
	text := wording(q)
	telling := func(r rune) bool { // a letter, a digit, or a sign with a meaning of its own, such as an emoji
		return r >= 0x80 && !unicode.IsPunct(r) && !unicode.IsSpace(r) || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	if !strings.ContainsFunc(text, telling) {
		return ""
	}
	return text
}

// wording returns the query in the user's words, without operators and without forbidden words.
func wording(q sheaf.Query) string {
	return cmp.Or(strings.TrimSpace(q.Meaning), strings.TrimSpace(q.Text))
}

// inPaths reports whether a query searches only names of folders and files.
func inPaths(q sheaf.TextQuery) bool {
	elsewhere := func(part sheaf.TextQuery) bool { return !inPaths(part) }
	switch q := q.(type) {
	case sheaf.Match:
		return q.Field == sheaf.FieldPath
	case sheaf.Phrase:
		return q.Field == sheaf.FieldPath
	case sheaf.Bool:
		parts := slices.Concat(q.Must, q.Should)
		return len(parts) > 0 && !slices.ContainsFunc(parts, elsewhere)
	}
	return false
}
