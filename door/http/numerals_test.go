package http

import (
	"regexp"
	"strconv"
	"testing"
)

// TestNumerals: the pattern of numbers as texts lets through those within the
// bounds, and no others.
func TestNumerals(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		whole     bool
	}{{0, 1, false}, {0.001, 1, false}, {-1, 1, false}, {1, 1000, true}, {10, 1000, true}, {100, 100000, true},
		{0.001, 60, false}, {20, 1000, false}, {-50, -7, true}, {7, 7, true}, {365, 1234, true}} {
		pattern := regexp.MustCompile(numerals(c.low, c.high, c.whole))
		for i := -2000; i <= 3000; i++ {
			text := strconv.Itoa(i)
			if pattern.MatchString(text) != (float64(i) >= c.low && float64(i) <= c.high) {
				t.Errorf("%v..%v: %s: %v", c.low, c.high, text, pattern.MatchString(text))
			}
			half := text + ".5"
			x, _ := strconv.ParseFloat(half, 64)
			within := x >= c.low && x <= c.high && !c.whole
			if got := pattern.MatchString(half); got && !within || within && !got && i > int(c.low) {
				t.Errorf("%v..%v: %s: %v", c.low, c.high, half, got)
			}
		}
	}
	if p := numerals(0, 1e300, false); p != "" {
		t.Errorf("a pattern of large numbers: %s", p)
	}
}
