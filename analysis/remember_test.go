package analysis_test

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"sheaf/analysis"
)

// TestKnownEqualsTerms: what is remembered of a word is what the word has, for
// words that take each other's place and from several goroutines at once.
func TestKnownEqualsTerms(t *testing.T) {
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}|[A-Z][a-z_]{2,9}[0-9]?|#?[a-z]{60,70}|数据`), 1, 200).Draw(t, "words")
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for _, word := range words {
					if got, want := a.Known(word), a.Terms(nil, word); !slices.Equal(got, want) {
						t.Errorf("%q has %v, want %v", word, got, want)
					}
				}
			})
		}
		wg.Wait()
	})
}
