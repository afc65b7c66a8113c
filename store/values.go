package store

import "strings"

// JoinValues returns the text of a field with several values, such as the aliases of a document. Four words without
// terms (analysis.ValueEnd) separate two values, so a phrase matches across them only with a slop above 4.
func JoinValues(values []string) string {
	return strings.Join(values, "\n\x1f\x1f\x1f\x1f")
}
