package analysis_test

import (
	"testing"

	"pgregory.net/rapid"

	"sheaf/analysis"
)

// What is called one term is one term that begins so, in one position.
func TestOneTerm(t *testing.T) {
	var analyzers []*analysis.Analyzer
	for _, o := range []analysis.Options{{}, {Language: "en"}, {Language: "en", StopWords: true}, {Language: "de"}} {
		a, err := analysis.New(o)
		if err != nil {
			t.Fatal(err)
		}
		analyzers = append(analyzers, a)
	}
	check := func(t interface {
		Fatalf(string, ...any)
	}, raw string) {
		for _, a := range analyzers {
			first, ok := a.OneTerm(raw)
			if !ok {
				continue
			}
			terms := a.Terms(nil, raw)
			n := 0
			for _, term := range terms {
				if !term.Form {
					n++
					if term.Text[0] != first || term.Offset != 0 {
						t.Fatalf("%s: %q is the term %q, not one that begins with %q", a.Name(), raw, term.Text, first)
					}
				}
			}
			if n != 1 || a.Positions(terms) != 1 {
				t.Fatalf("%s: %q is %d terms in %d positions", a.Name(), raw, n, a.Positions(terms))
			}
		}
	}
	for _, raw := range []string{"a", "I", "skies", "dying", "lying", "tying", "idly", "gently", "ugly", "early", "only", "singly", "news", "howe", "ies", "yes", "Yellow", "sses", "ing", "ed", "ingly", "generate", "communism", "arsenal", "the", "The"} {
		check(t, raw)
	}
	if _, ok := analyzers[2].OneTerm("The"); ok {
		t.Error("a word that is left out is called a term")
	}
	for _, raw := range []string{"", "HTTPServer", "a1", "café", "C++", "x-y", "ABC"} {
		if _, ok := analyzers[1].OneTerm(raw); ok {
			t.Errorf("%q is called plain", raw)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`[A-Za-z][a-z]{0,4}(ing|ed|ies|ly|s|ational|y|ful|ness)?`).Draw(t, "raw"))
	})
}
