package store

import "strings"

// JoinValues returns the text of a field with several values, such as the aliases of a document. A
// phrase matches across the end of a value only with a slop above 4: analysis.ValueEnd is a word
// without terms.
func JoinValues(values []string) string {
	return strings.Join(values, "\n\x1f\x1f\x1f\x1f")
}
