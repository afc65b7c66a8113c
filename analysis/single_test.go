package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf/analysis"
)

// sieveAnalyzers are analyzers whose sieves differ.
func sieveAnalyzers(t *testing.T) []*analysis.Analyzer {
	t.Helper()
	var analyzers []*analysis.Analyzer
	for _, o := range []analysis.Options{{}, {Language: "en"}, {Language: "en", StopWords: true}, {Language: "de"}} {
		a, err := analysis.New(o)
		if err != nil {
			t.Fatal(err)
		}
		analyzers = append(analyzers, a)
	}
	return analyzers
}

// termsOf are those of a raw word that are no forms, and its positions.
func termsOf(a *analysis.Analyzer, raw string) (texts []string, positions int) {
	terms := a.Terms(nil, raw)
	for _, t := range terms {
		if !t.Form {
			texts = append(texts, t.Text)
		}
	}
	return texts, a.Positions(terms)
}

// A word is never called another when it is one of the terms, and is one term in
// one position when it is.
func TestSieve(t *testing.T) {
	analyzers := sieveAnalyzers(t)
	check := func(t interface {
		Fatalf(string, ...any)
	}, raw string, wanted ...string) {
		for _, a := range analyzers {
			texts, positions := termsOf(a, raw)
			// The word's own term lets it through, whatever else is wanted.
			if a.Sieve(append(wanted, texts...)).Others(raw) {
				t.Fatalf("%s: %q is held to be no %q", a.Name(), raw, texts)
			}
			if a.Sieve(wanted).Others(raw) && (len(texts) != 1 || positions != 1 || slices.Contains(wanted, texts[0])) {
				t.Fatalf("%s: %q is %q in %d positions; wanted %q", a.Name(), raw, texts, positions, wanted)
			}
		}
	}
	for _, raw := range strings.Fields("a I skies dying lying tying idly gently ugly early only singly news inning outing canning herring earring proceed exceed succeed howe ies yes Yellow sses ing ed aing oed using aged ingly generate communism arsenal the The by cry dye") {
		check(t, raw)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z][a-z]{0,4}(ing|ed|ies|ied|ly|s|ational|y|ful|ness|ogi)?`)
		check(t, word.Draw(t, "raw"), rapid.SliceOfN(rapid.StringMatching(`[a-zé][a-z]{0,3}`), 0, 4).Draw(t, "wanted")...)
	})
}

// Every English word of up to four letters, and with the endings that the
// stemmer knows, keeps its beginning.
func TestSieveOfShortWords(t *testing.T) {
	if testing.Short() {
		t.Skip("short: half a million words")
	}
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	var terms []analysis.Term
	try := func(raw string) {
		terms = a.Terms(terms[:0], raw)
		term := terms[0].Text
		if terms[0].Form || len(term) > 1 && (term[0] != raw[0] || term[1] != raw[1] && (term[1] != 'i' || raw[1] != 'y')) ||
			len(term) > 2 && term[2] != 'e' && term[2] != 'y' && (len(raw) < 3 || term[2] != raw[2] && (term[2] != 'i' || raw[2] != 'y')) {
			t.Errorf("%q has the term %q", raw, term)
		}
	}
	thirdEndings := strings.Fields("s ed ing ies ied ly y e eed ingly edly ational ization ousli biliti ative ement ion er able")
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for _, x := range letters {
		for _, y := range letters {
			pair := string(x) + string(y)
			for _, ending := range strings.Fields("s ed ing ies ied ly y e eed ingly edly sses ational ization fulness ousli biliti ogi ative ement ion er able") {
				try(string(x) + ending)
				try(pair + ending)
			}
			for _, z := range letters {
				try(pair + string(z))
				for _, w := range letters {
					try(pair + string(z) + string(w))
				}
				for _, ending := range thirdEndings {
					try(pair + string(z) + ending)
				}
			}
		}
	}
}

// Most words are called others, and what is not plain never is.
func TestSieveSays(t *testing.T) {
	analyzers := sieveAnalyzers(t)
	s := analyzers[1].Sieve([]string{"run", "cat"})
	for _, raw := range strings.Fields("dog Word rat configuring rut ruining cartoon") {
		if !s.Others(raw) {
			t.Errorf("%q is not told from run and cat", raw)
		}
	}
	for _, raw := range []string{"", "a", "HTTPServer", "x1", "café", "C++", "x-y", "ABC", "runs", "Cats"} {
		if s.Others(raw) {
			t.Errorf("%q is called another", raw)
		}
	}
	if analyzers[2].Sieve(nil).Others("The") {
		t.Error("a word that is left out is called a term")
	}
	if analyzers[3].Sieve(nil).Others("Wort") {
		t.Error("a sieve of German tells something")
	}
}
