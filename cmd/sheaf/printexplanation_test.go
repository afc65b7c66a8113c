package main

import (
	"strings"
	"testing"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
)

// TestPrintExplanation checks that short parts share one line and long parts get their own lines. A
// factor of one is left out. Parts that only inform are indented below their number.
func TestPrintExplanation(t *testing.T) {
	leaf := func(label string, v float64) sheaf.Explanation { return sheaf.Explanation{Label: label, Value: v} }
	of := func(label string, v float64, c sheaf.Combine, parts ...sheaf.Explanation) sheaf.Explanation {
		return sheaf.Explanation{Label: label, Value: v, Combine: c, Parts: parts}
	}
	long := strings.Repeat("long ", 20)
	for name, test := range map[string]struct {
		e    sheaf.Explanation
		want string
	}{
		"a leaf": {leaf("score", 2), "2 score\n"},
		"a formula": {of("score", 7, sheaf.CombineSum, leaf("a", 1),
			of("b", 6, sheaf.CombineProduct, leaf("x", 2), leaf("y", 3))), "7 score = 1 a + 6 b (2 x x 3 y)\n"},
		"a function": {of("score", 3, sheaf.CombineMax, leaf("a", 1), leaf("b", 3)),
			"3 score = max(1 a, 3 b)\n"},
		"times one": {of("score", 6, sheaf.CombineProduct, leaf("boost", 1), leaf("x", 2), leaf("y", 3)),
			"6 score = 2 x x 3 y\n"},
		"one divided": {of("score", 0.5, sheaf.CombineQuotient, leaf("weight", 1), leaf("k", 2)),
			"0.5 score = 1 weight / 2 k\n"},
		"the sum of one": {of("rank 1 by words", 6, sheaf.CombineSum,
			of(`"cat" in body`, 6, sheaf.CombineProduct, leaf("idf", 2), leaf("tf", 3))), "6 rank 1 by words: \"cat\" in " +
			"body = 2 idf x 3 tf\n"},
		"a passage of a document": {of("notes:a.md#cat", 6, sheaf.CombineSum, leaf("rank 2 by words", 6)),
			"6 #cat, rank 2 by words\n"},
		"too long": {of("score", 7, sheaf.CombineSum, leaf("a", 1),
			of("b", 6, sheaf.CombineProduct, leaf(long, 2), leaf(long, 3))),
			"7 score = 1 a + 6 b\n  6 b = product of\n    2 " + long + "\n    3 " + long + "\n"},
		"what informs": {of("score", 0.5, sheaf.CombineQuotient, leaf("weight", 1),
			sheaf.Explanation{Label: "rank", Value: 2, Parts: []sheaf.Explanation{leaf("similarity", 0.7)}}),
			"0.5 score = 1 weight / 2 rank\n  2 rank\n    0.7 similarity\n"},
		"one times one": {of("score", 1, sheaf.CombineProduct, leaf("a", 1), leaf("b", 1)), "1 score\n"},
	} {
		var b strings.Builder
		printExplanation(&b, &terminal.Output{}, test.e, 0)
		if got := b.String(); got != test.want {
			t.Errorf("%s:\n%swant\n%s", name, got, test.want)
		}
	}
}
