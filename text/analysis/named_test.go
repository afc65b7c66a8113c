package analysis_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"sheaf/text/analysis"
)

// TestNoTermIsEmpty checks that no term is empty in any language, for any marks in a word, also
// invisible ones.
func TestNoTermIsEmpty(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 8))
	parts := []rune("aZéßΣя7数ع'’‘.-@_,#\u0300\u0301\u0306\u00ad\u200b\u200d\u0e33")
	texts := []string{"x-\u200d'\u200d", "Z-\u00ad'\u00ad", "É-\u0301'\u0301", "hello Z-\u0300\u2019\u0300 world"}
	for range 20_000 {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteRune(parts[rng.IntN(len(parts))])
		}
		texts = append(texts, b.String())
	}
	for _, language := range append(analysis.Languages(), "") {
		a := analyzer(t, language)
		var terms []analysis.Term
		for _, text := range texts {
			a.Words(text, func(start, end int) bool {
				terms = a.Terms(terms[:0], text[start:end])
				for _, term := range terms {
					if term.Text == "" {
						t.Fatalf("%q: %q of %+q has an empty term: %+v", language, text[start:end], text, terms)
					}
				}
				return true
			})
		}
	}
}
