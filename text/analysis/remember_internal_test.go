package analysis

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestConcurrentCacheReplacement checks that words which replace each other in the cache during concurrent reads have
// their own terms or none.
func TestConcurrentCacheReplacement(t *testing.T) {
	a, err := New(Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"ab", "studies", "Get-ChildItem", "mangée", "数据", strings.Repeat("x", rememberedBytes), "readers",
		"running", "stories", "parties", "naïve"}
	var terms [][]Term
	for _, w := range words {
		terms = append(terms, a.Terms(nil, w))
	}
	rounds := 200_000
	if testing.Short() {
		rounds = 20_000
	}
	var place rememberedWord
	var found atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var buffer TermBuffer
			for i := range rounds {
				k := (i*(g+1) + g) % len(words)
				place.write(words[k], terms[k])
				for range 8 {
					if got, ok := place.read(words[k], &buffer); ok {
						found.Add(1)
						if !slices.Equal(got, terms[k]) {
							t.Errorf("%q has %v, want %v", words[k], got, terms[k])
						}
					}
				}
			}
		})
	}
	wg.Wait()
	var buffer TermBuffer
	for k, w := range words {
		place.write(w, terms[k])
		got, ok := place.read(w, &buffer)
		size := len(w)
		for _, term := range terms[k] {
			size += len(term.Text)
		}
		fits := size <= rememberedBytes && len(terms[k]) <= rememberedTerms
		if fits && !ok || ok && !slices.Equal(got, terms[k]) {
			t.Errorf("%q has %v, %v, want %v", w, got, ok, terms[k])
		}
		if other, ok := place.read(words[(k+1)%len(words)], &buffer); ok && fits {
			t.Errorf("after %q came, the place holds %v of another", w, other)
		}
	}
	place.write("ab", terms[0])
	place.version.Add(1)
	if _, ok := place.read("ab", &buffer); ok {
		t.Error("what somebody writes was read")
	}
	place.write("studies", terms[1])
	place.version.Add(1)
	if _, ok := place.read("ab", &buffer); !ok {
		t.Error("two wrote at once")
	}
	if found.Load() == 0 {
		t.Error("nothing was found: nobody can tell")
	}
}
