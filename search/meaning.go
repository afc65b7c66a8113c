package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"sheaf"
)

// meaning is the text of a query that is embedded; "" when it asks for nothing
// that could be: filters, names of folders and files, words that must not be found,
// marks alone.
func meaning(q sheaf.Query) string {
	if b, ok := q.Words.(sheaf.Bool); ok && len(b.Must)+len(b.Should) == 0 || inPaths(q.Words) {
		return ""
	}
	text := wording(q)
	if !strings.ContainsFunc(text, telling) {
		return ""
	}
	return text
}

// wording is what a query asks for in the words of who asks, without the marks of the query
// language and what must not be found.
func wording(q sheaf.Query) string {
	return cmp.Or(strings.TrimSpace(q.Meaning), strings.TrimSpace(q.Text))
}

// inPaths reports whether a query looks at nothing but the names of folders and files.
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

// telling reports whether a character may mean something by itself: a letter, a
// digit, or a sign beyond ASCII, such as a picture.
func telling(r rune) bool {
	return r >= 0x80 && !unicode.IsPunct(r) && !unicode.IsSpace(r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}
