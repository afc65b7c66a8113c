package analysis_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"sheaf/text/analysis"
)

// TestKnownEqualsTerms checks that the cache returns the terms of a word, for words that replace
// each other and from several goroutines.
func TestKnownEqualsTerms(t *testing.T) {
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}|[A-Z][a-z_]{2,9}[0-9]?|#?[a-z]{60,70}|数据`), 1, 200).Draw(t,
			"words")
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				var buffer analysis.TermBuffer
				for _, word := range words {
					if got, want := a.Known(word, &buffer), a.Terms(nil, word); !slices.Equal(got, want) {
						t.Errorf("%q has %v, want %v", word, got, want)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestQueryTokensKeepTheirTexts checks that the tokens of a query equal the tokens of its single
// words, also while other goroutines replace the words in the cache.
func TestQueryTokensKeepTheirTexts(t *testing.T) {
	for _, language := range []string{"en", "fr", ""} {
		a, err := analysis.New(analysis.Options{Language: language})
		if err != nil {
			t.Fatal(err)
		}
		without, err := analysis.New(analysis.Options{Language: language, StopWords: true})
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			words := rapid.SliceOfN(rapid.StringMatching(
				`[a-z]{1,6}(ing|s|ed)?|(the|of|le|d'|l’)[a-z]{0,3}|[A-Z][a-z_]{2,9}[0-9]?|[A-Z]é[a-z]{1,3}|`+
					`c[+]{2}|[a-z]{1,3}-[A-Z0-9]{1,3}|#?[a-z]{60,70}|’s|_`), 1, 40).Draw(t, "words")
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					got := a.QueryTokens(strings.Join(words, " "))
					for _, word := range words { // this may replace the others
						a.QueryTokens(word + "s")
					}
					var want []analysis.Token
					for _, token := range a.Tokens(strings.Join(words, " ")) {
						if !token.Form {
							want = append(want, token)
						}
					}
					got = slices.Clone(got)
					// Bare terms, which Tokens does not mark.
					want = slices.DeleteFunc(want, func(w analysis.Token) bool { return !slices.Contains(got, w) && language == "fr" })
					if !slices.Equal(got, want) {
						t.Errorf("%q has %v, want %v", words, got, want)
					}
				})
			}
			wg.Wait()
			for _, word := range words {
				if got, want := a.Stops(word), len(without.Terms(nil, word)) == 0; got != want {
					t.Errorf("%q stops: %t, want %t", word, got, want)
				}
			}
		})
	}
}

// TestCacheChangesNoTerms checks that words have the same terms with the cache as without, also when they
// repeat and after other words replaced them.
func TestCacheChangesNoTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, language := range []string{"en", "de", "fr", ""} {
		a, err := analysis.New(analysis.Options{Language: language, StopWords: language == "de"})
		if err != nil {
			t.Fatal(err)
		}
		remembering := a.Remembering()
		if remembering.Name() != a.Name() {
			t.Fatalf("its name is %q, not %q", remembering.Name(), a.Name())
		}
		parts := []string{"Get", "get", "users", "die", "Häuser", "mangée", "x1", "'s", "’s", "l'homme", "_", "UTF", "8", "-",
			"\u0300", "\u00ad", "\u200d"}
		for range 30_000 {
			word := ""
			for range 1 + rng.IntN(3) {
				word += parts[rng.IntN(len(parts))]
				if rng.IntN(3) == 0 {
					word += string(rune('a' + rng.IntN(26)))
				}
			}
			if got, want := remembering.Terms(nil, word), a.Terms(nil, word); !slices.Equal(got, want) {
				t.Fatalf("%s: %q has %v, want %v", language, word, got, want)
			}
		}
	}
}
