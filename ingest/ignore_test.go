package ingest

import (
	"strings"
	"testing"
)

// TestHostilePatterns: a pattern with many stars ends. Tried naively each of
// these takes longer than anybody waits.
func TestHostilePatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{strings.Repeat("*a", 40) + "b", strings.Repeat("a", 200), false},
		{strings.Repeat("*a", 40), strings.Repeat("a", 200), true},
		{strings.Repeat("**/", 40) + "x", strings.Repeat("a/", 100) + "y", false},
		{strings.Repeat("**/*a", 20) + "b", strings.Repeat("a/", 100) + "a", false},
		{strings.Repeat("a/**/", 20) + "b", strings.Repeat("a/", 100) + "c", false},
		{strings.Repeat("?*", 60) + "/", strings.Repeat("z", 150), false},
	} {
		if got := wildmatch(c.pattern, c.s); got != c.want {
			t.Errorf("%.30s...: %v", c.pattern, got)
		}
	}
}
