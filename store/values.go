package store

import "strings"

// JoinValues returns the text of a field that has several values, such as the aliases of a
// document. No phrase goes over the end of a value, unless it allows for more than 4 words
// between its own: analysis.ValueEnd is a word without terms.
func JoinValues(values []string) string {
	return strings.Join(values, "\n\x1f\x1f\x1f\x1f")
}
