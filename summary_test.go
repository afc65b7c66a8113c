package sheaf_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func leaf(label string, value float64) sheaf.Explanation {
	return sheaf.Explanation{Label: label, Value: value}
}

func node(label string, value float64, how sheaf.Combine, parts ...sheaf.Explanation) sheaf.Explanation {
	return sheaf.Explanation{Label: label, Value: value, Combine: how, Parts: parts}
}

func called(e sheaf.Explanation, kind string, details map[string]sheaf.Value) sheaf.Explanation {
	e.Kind, e.Details = kind, details
	return e
}

func inField(term, field string, value float64) sheaf.Explanation {
	return called(leaf("", value), sheaf.KindTerm,
		map[string]sheaf.Value{"term": sheaf.TextValue(term), "field": sheaf.TextValue(field)})
}

func leg(by, branch string, rank, value float64, parts ...sheaf.Explanation) sheaf.Explanation {
	return called(node("", value, sheaf.CombineSum, parts...), sheaf.KindLeg, map[string]sheaf.Value{
		"by": sheaf.TextValue(by), "branch": sheaf.TextValue(branch), "rank": sheaf.NumberValue(rank)})
}

// TestSummary checks the shares for each way to combine the parts of an explanation.
func TestSummary(t *testing.T) {
	words := leg("text", "words", 1, 4, inField("undo", "title", 3), inField("commit", "body", 1))
	near := leg("vector", "meaning", 2, 0.5)
	links := func(value float64) sheaf.Explanation {
		return called(leaf("", value), sheaf.KindGraph, map[string]sheaf.Value{"backlinks": sheaf.NumberValue(2)})
	}
	reciprocal := func(rank float64, why sheaf.Explanation) sheaf.Explanation {
		place := sheaf.Explanation{Label: "rank", Value: rank, Parts: []sheaf.Explanation{why}}
		return node("leg", 1/(60+rank), sheaf.CombineQuotient, leaf("weight", 1),
			node("k + rank", 60+rank, sheaf.CombineSum, leaf("k", 60), place))
	}
	both := called(node("", 2, sheaf.CombineProduct, leaf("boost", 1), node("frequency", 4, sheaf.CombineSum,
		called(leaf("", 3), sheaf.KindOccurs, map[string]sheaf.Value{"field": sheaf.TextValue("title")}),
		called(leaf("", 1), sheaf.KindOccurs, map[string]sheaf.Value{"field": sheaf.TextValue("body")}))),
		sheaf.KindTerm, map[string]sheaf.Value{"term": sheaf.TextValue("undo"), "field": sheaf.TextValue("")})
	for name, c := range map[string]struct {
		e    sheaf.Explanation
		want string
	}{
		"weighted sum": {node("", 2.25, sheaf.CombineSum, node("", 2, sheaf.CombineProduct, leaf("weight", 0.5), words),
			node("", 0.25, sheaf.CombineProduct, leaf("weight", 0.5), near)),
			"in the title: UNDO (67 %); in the text: commit (22 %); the passage is close in meaning, 0.50 (11 %)"},
		"reciprocal ranks": {node("", 2./61, sheaf.CombineSum, reciprocal(1, words), reciprocal(1, near)),
			"the passage is close in meaning, 0.50 (50 %); in the title: UNDO (38 %); in the text: commit (13 %)"},
		"a boost": {node("", 5, sheaf.CombineProduct, words, links(1.25)),
			"in the title: UNDO (60 %); in the text: commit (20 %); 2 other results link to it (20 %)"},
		"a penalty": {node("", 2, sheaf.CombineProduct, words, called(leaf("", 0.5), sheaf.KindRecency, nil)),
			"in the title: UNDO (75 %); it has no date (-50 %); in the text: commit (25 %)"},
		"an added boost": {node("", 5, sheaf.CombineSum, words, node("factor - 1", 1, sheaf.CombineDifference, links(2),
			leaf("one", 1))), "in the title: UNDO (60 %); in the text: commit (20 %); 2 other results link to it (20 %)"},
		"a scale": {node("", 0.98, sheaf.CombineMax, leaf("lowest", 0.02), node("", 0.98, sheaf.CombineSum,
			leaf("lowest", 0.02), node("", 0.96, sheaf.CombineQuotient,
				node("", 2, sheaf.CombineDifference, words, leaf("lowest", 2)),
				leaf("range", 2.1)))), "in the title: UNDO (75 %); in the text: commit (25 %)"},
		"a document of passages": {node("", 4, sheaf.CombineMax, words, leg("text", "words", 2, 3, inField("a", "tags", 3))),
			"in the title: UNDO (75 %); in the text: commit (25 %)"},
		"fields as one text": {both, "in the title: UNDO (75 %); in the text: UNDO (25 %)"},
		"a store that says nothing": {node("", 1, sheaf.CombineSum, leg("text", "words", 3, 0.5), near),
			"place 3 by words (50 %); the passage is close in meaning, 0.50 (50 %)"},
		"a filter alone": {leg("text", "words", 1, 0), "it passes the filter (100 %)"},
		"hardly close":   {leg("vector", "meaning", 1, 0.1), "the passage is hardly close in meaning, 0.10 (100 %)"},
		"a function word": {node("", 10, sheaf.CombineSum, inField("undo", "title", 9), inField("the", "body", 1)),
			"in the title: UNDO (90 %); common words in the text (10 %)"},
		"a word beside a function word": {node("", 10, sheaf.CombineSum, inField("undo", "title", 9),
			inField("the", "title", 1)), "in the title: UNDO (100 %)"},
		"properties": {node("", 10, sheaf.CombineSum, inField("closed", "properties", 6), inField("x", "properties", 4)),
			"in the property status: closed (60 %); in a property: x (40 %)"},
		"nothing known": {leaf("score", 2), "score (100 %)"},
		"many": {node("", 100, sheaf.CombineSum, inField("a", "a", 30), inField("b", "b", 20), inField("c", "c", 15),
			inField("d", "d", 12), inField("e", "e", 10), inField("f", "f", 9), inField("g", "g", 4)),
			"in the a: a (30 %); in the b: b (20 %); in the c: c (15 %); in the d: d (12 %); in the e: e (10 %); " +
				"in the f: f (9 %)"},
		"long": {node("", 100, sheaf.CombineSum, inField("a", strings.Repeat("a", 80), 40),
			inField("b", strings.Repeat("b", 80), 30), inField("c", strings.Repeat("c", 80), 20), inField("d", "d", 10)),
			"in the " + strings.Repeat("a", 80) + ": a (40 %); in the " + strings.Repeat("b", 80) + ": b (30 %); " +
				"other reasons (30 %)"},
		"many words": {node("", 10, sheaf.CombineSum, inField("a", "body", 3), inField("b", "body", 2),
			inField("c", "body", 1), inField("d", "body", 1), inField("e", "body", 1), inField("f", "body", 1),
			inField("g", "body", 1)), "in the text: a, b, c, d, e and 2 more (100 %)"},
		"a long name": {called(leaf("", 1), sheaf.KindName, map[string]sheaf.Value{"of": sheaf.TextValue("heading"),
			"name": sheaf.TextValue("Why a commit that others have already pulled must stay")}),
			"the query names the heading \"Why a commit that others have already…\" (100 %)"},
		"long pairs": {called(leaf("", 1), sheaf.KindPairs, map[string]sheaf.Value{"pairs": sheaf.TextValue(
			"undo a, a commit, commit that, that others, others have, have pulled")}),
			"words side by side: undo a, a commit, commit that, that… (100 %)"},
	} {
		got := sheaf.SummaryText(c.e.Summary(sheaf.SummaryWords{
			Word: func(term string) string {
				switch term {
				case "undo":
					return "UNDO"
				case "the":
					return ""
				}
				return term
			},
			Property: func(term string) string {
				if term == "closed" {
					return "status"
				}
				return ""
			},
		}))
		check.Equal(t, got, c.want, "%s", name)
	}
}

// TestEveryKindHasReason checks that a summary names each kind of explanation, but for parts of other kinds.
func TestEveryKindHasReason(t *testing.T) {
	source := string(must.Get(os.ReadFile("explanation.go")))
	kinds := regexp.MustCompile(`(?m)^\tKind\w+ += "(\w+)"`).FindAllStringSubmatch(source, -1)
	must.That(t, len(kinds) > 10, "%d kinds", len(kinds))
	for _, kind := range kinds {
		if kind[1] == sheaf.KindNormalized || kind[1] == sheaf.KindOccurs {
			continue
		}
		e := node("", 4, sheaf.CombineProduct, inField("undo", "title", 2), called(leaf("some label", 2), kind[1], nil))
		got := e.Summary(sheaf.SummaryWords{Word: strings.ToUpper, Property: strings.ToLower})
		check.That(t, len(got) == 2 && got[1].Text != "" && got[1].Text != "some label", "%s: %v", kind[1], got)
	}
}
