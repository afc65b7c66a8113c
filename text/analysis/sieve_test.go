package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf/text/analysis"
)

// sieveAnalyzers returns analyzers with different sieves.
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

// termsOf returns the terms of a raw word, without forms, and its number of positions.
func termsOf(a *analysis.Analyzer, raw string) (texts []string, positions int) {
	terms := a.Terms(nil, raw)
	for _, t := range terms {
		if !t.Form {
			texts = append(texts, t.Text)
		}
	}
	return texts, a.Positions(terms)
}

// TestSieve checks that Others is never true for a word with a wanted term. A word for which it is
// true must have one term in one position.
func TestSieve(t *testing.T) {
	analyzers := sieveAnalyzers(t)
	check := func(t interface {
		Fatalf(string, ...any)
	}, raw string, wanted ...string) {
		for _, a := range analyzers {
			texts, positions := termsOf(a, raw)
			// The word's own term lets the word pass, whatever else is wanted.
			if a.Sieve(append(wanted, texts...)).Others(raw) {
				t.Fatalf("%s: %q is held to be no %q", a.Name(), raw, texts)
			}
			if a.Sieve(wanted).Others(raw) && (len(texts) != 1 || positions != 1 || slices.Contains(wanted, texts[0])) {
				t.Fatalf("%s: %q is %q in %d positions; wanted %q", a.Name(), raw, texts, positions, wanted)
			}
		}
	}
	for _, raw := range strings.Fields("a I skies dying lying tying idly gently ugly early only singly news inning " +
		"outing canning herring earring proceed exceed succeed howe ies yes Yellow sses ing ed aing oed using aged ingly " +
		"generate communism arsenal the The by cry dye") {
		check(t, raw)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z][a-z]{0,4}(ing|ed|ies|ied|ly|s|ational|y|ful|ness|ogi)?`)
		check(t, word.Draw(t, "raw"), rapid.SliceOfN(rapid.StringMatching(`[a-zé][a-z]{0,3}`), 0, 4).Draw(t, "wanted")...)
	})
}

// TestSieveLacks checks that Lacks is never true for a word that has a wanted term, with any number of parts.
func TestSieveLacks(t *testing.T) {
	analyzers := sieveAnalyzers(t)
	check := func(t interface {
		Fatalf(string, ...any)
	}, raw string, wanted ...string) {
		for _, a := range analyzers {
			texts, _ := termsOf(a, raw)
			for _, text := range texts { // each term alone, so that no other lets the word pass
				if a.Sieve([]string{text}).Lacks(raw) {
					t.Fatalf("%s: %q is held to lack %q", a.Name(), raw, text)
				}
			}
			if a.Sieve(wanted).Lacks(raw) && slices.ContainsFunc(texts, func(text string) bool {
				return slices.Contains(wanted, text)
			}) {
				t.Fatalf("%s: %q has %q and is held to lack %q", a.Name(), raw, texts, wanted)
			}
		}
	}
	for _, raw := range strings.Fields("a I x-ray U.S.A u.s.a 1,000,000 12'000 O'Neill he's they’re C++ C++17 c# #tag " +
		"#Tag_b __init__ _x a_B getUserName HTTPServer DNAs DNA p53 utf8 UTF-8 k8s v2 3D 3d 64bit " +
		"TGF-beta1 CD8+ user@host Get-Item wi-fi file1.txt A1B2 aB aBC ABc ABCd café cafÉ-bar naïve-X x-é é-x ÉcoleB " +
		"dying-skies cry-Baby K2 Ⅳ-x ½-a ＡＢ-c ﬁx-it e.g rock'n'roll 'tis ¹-a straßeB İx-I") {
		check(t, raw)
	}
	rapid.Check(t, func(t *rapid.T) {
		part := `([a-zA-Z]{1,3}|[0-9]{1,2}|[A-Za-z][a-z]{0,9}(ing|ed|ies|ied|ly|s|ational|y|ful|ness)?|[A-Z]{2,4}s?|é|数|_)`
		raw := rapid.StringMatching(`#?`+part+`([-_.@,'’#+]?`+part+`){0,3}`).Draw(t, "raw")
		other := rapid.StringMatching(part+`([-_.]?`+part+`){0,1}`).Draw(t, "other")
		wanted, _ := termsOf(analyzers[1], other)
		check(t, raw, wanted...)
		analyzers[0].Words(raw, func(start, end int) bool {
			check(t, raw[start:end], wanted...)
			return true
		})
	})
}

// TestSieveWords checks that all words of a text are yielded except those that lack the terms.
func TestSieveWords(t *testing.T) {
	analyzers := sieveAnalyzers(t)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zA-Z]{1,3}|[a-z]{0,20}|[A-Z]?[a-z]{2,12}(ing|s)?|[0-9]{1,2}|[A-Z]{2,4}s?|é|数|_`)
		mark := rapid.SampledFrom(strings.Split("- _ . @ , ' ’ # + ; : ( \x80 \n", " "))
		long := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat("x", rapid.IntRange(100, 300).Draw(t, "length"))
		})
		text := strings.Join(rapid.SliceOf(rapid.OneOf(word, word, word, mark, rapid.Just(" "), rapid.Just(" "),
			long)).Draw(t, "text"), "")
		wanted := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9]{1,4}`), 0, 3).Draw(t, "wanted")
		for _, a := range analyzers {
			s := a.Sieve(wanted)
			var got, want []string
			a.Words(text, func(start, end int) bool {
				if raw := text[start:end]; !s.Lacks(raw) {
					want = append(want, raw)
				}
				return true
			})
			s.Words(text, func(start, end int) bool {
				got = append(got, text[start:end])
				return true
			})
			if !slices.Equal(got, want) {
				t.Fatalf("%s: of %q, %q are yielded, want %q", a.Name(), text, got, want)
			}
		}
	})
}

// TestSieveSaysLacks checks that Lacks is true for most words, also for those of several parts.
func TestSieveSaysLacks(t *testing.T) {
	analyzers := sieveAnalyzers(t)
	s := analyzers[1].Sieve([]string{"run", "cat", "p53", "dna"})
	for _, raw := range strings.Fields("dog Word rat configuring HTTPServer x1 c1 x-y ABC RNA IL-6 TGF-beta1 well-known") {
		if !s.Lacks(raw) {
			t.Errorf("%q is not said to lack run and cat", raw)
		}
	}
	long := analyzers[1].Sieve([]string{"configur"})
	for _, raw := range strings.Fields("config Conflict confirmation ConfigMap") {
		if !long.Lacks(raw) {
			t.Errorf("%q is not said to lack configur", raw)
		}
	}
	for _, raw := range []string{"", "runs", "Cats", "p53", "P53", "DNA", "mRNA-DNA", "cat-like", "RunCat", "café", "rêve",
		"#x"} {
		if s.Lacks(raw) {
			t.Errorf("%q is said to lack run and cat", raw)
		}
	}
	if analyzers[3].Sieve(nil).Lacks("Wort") {
		t.Error("a sieve of German tells something")
	}
}

// TestSieveOfShortWords checks that each English word of up to four letters, alone and with known
// endings, keeps its beginning after stemming.
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
			len(term) > 2 && term[2] != 'e' && term[2] != 'y' &&
				(len(raw) < 3 || term[2] != raw[2] && (term[2] != 'i' || raw[2] != 'y')) {
			t.Errorf("%q has the term %q", raw, term)
		}
		if len(term) > 3 && !strings.HasPrefix(raw, term[:len(term)-1]) {
			t.Errorf("%q has the term %q, which differs before its last letter", raw, term)
		}
	}
	thirdEndings := strings.Fields("s ed ing ies ied ly y e eed ingly edly ational ization ousli biliti ative ement " +
		"ion er able")
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for _, x := range letters {
		for _, y := range letters {
			pair := string(x) + string(y)
			for _, ending := range strings.Fields("s ed ing ies ied ly y e eed ingly edly sses ational ization fulness ousli " +
				"biliti ogi ative ement ion er able") {
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
					try(pair + "an" + string(z) + ending)
				}
			}
		}
	}
}

// TestSieveSays checks that Others is true for most words, and never for a word that is not plain.
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
