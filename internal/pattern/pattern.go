// Package pattern compiles regular expressions at their first use, so that a command that needs none starts faster.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that returns the compiled expression. The first call compiles it, and panics when expression
// is not valid.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
