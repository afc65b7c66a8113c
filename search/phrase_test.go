package search_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf/search"
	words "sheaf/text/query"
)

// TestPhraseInAnyCase checks that the case of a phrase does not change how much it counts.
func TestPhraseInAnyCase(t *testing.T) {
	docs := map[string][]string{"small.md": {"A: the github pages of us"}, "capitals.md": {"A: the GitHub Pages of us"}}
	for i := range 20 {
		docs[fmt.Sprintf("%02d.md", i)] = []string{"A: git hub and pages"}
	}
	s := inEngine(t, newShelf(docs), "en")
	for _, tt := range []struct{ text, first, second string }{
		{`"github pages"`, "t:small.md#A", "t:capitals.md#A"},
		{`"GitHub Pages"`, "t:small.md#A", "t:capitals.md#A"},
		{`+GitHub`, "t:small.md#A", "t:capitals.md#A"}, // only the whole word counts, so the shorter text is first
		{`-"GitHub Pages" +us`, "", ""},
	} {
		r := mustSearch(t, s, words.Parse(tt.text, words.Options{Limit: 5}), load(t, "sheaf"), search.Options{Evidence: true})
		if tt.first == "" {
			if len(r.Hits) > 0 {
				t.Errorf("%s found %s", tt.text, r.Hits[0].ID)
			}
			continue
		}
		if len(r.Hits) != 2 || string(r.Hits[0].ID) != tt.first || string(r.Hits[1].ID) != tt.second {
			t.Fatalf("%s: %v", tt.text, found(r))
		}
		for i, h := range r.Hits {
			e := h.Evidence
			if e.Words > 0.6 || i == 0 && e.Words < 0.15 {
				t.Errorf("%s: %s has words worth %.2f", tt.text, h.ID, e.Words)
			}
		}
	}
}

// TestPhraseOfNames checks that a phrase of many names is found in any case.
func TestPhraseOfNames(t *testing.T) {
	const names = "GitHub YouTube LinkedIn PayPal MacBook"
	small := strings.ToLower(names)
	s := inEngine(t, newShelf(map[string][]string{"capitals.md": {"A: on " + names + " too"},
		"small.md": {"A: on " + small + " too"}}), "en")
	for _, text := range []string{names, small, strings.ToUpper(names)} {
		r := mustSearch(t, s, words.Parse(`"`+text+`"`, words.Options{Limit: 5}), load(t, "rrf"), search.Options{})
		if len(r.Hits) != 2 {
			t.Errorf("%s: found %v", text, found(r))
		}
	}
}
