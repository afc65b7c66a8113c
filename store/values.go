package store

import "strings"

// JoinValues returns the text of a field with several values, such as the aliases of a document. Between two values it
// puts four marks (analysis.ValueEnd). A mark takes a position but has no term. So a phrase matches across two values
// only with a slop of 4 or more.
func JoinValues(values []string) string {
	return strings.Join(values, "\n\x1f\x1f\x1f\x1f")
}
