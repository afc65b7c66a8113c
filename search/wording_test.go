package search_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/search"
)

// TestEqualNameWithOperators checks that a name equal to the query counts, whatever query operators surround it.
func TestEqualNameWithOperators(t *testing.T) {
	s, p := searcher(newShelf(map[string][]string{
		"dogs.md":  {"Food: a dog eats meat", "Walk: the dog runs around a tree"},
		"walks.md": {"Walk (long): the dog runs around a stone"},
	})), load(t, "sheaf")
	for _, tt := range []struct {
		text, meaning string
		want          string
	}{
		{"walk", "walk", "Walk"}, {" Walk ", "", "Walk"}, {`"walk"`, "walk", "Walk"}, {"walk -meat path:x/", "walk", "Walk"},
		{"walk well", "walk well", ""}, {"cat -walk", "cat", ""}, {"walk path:x/", "", ""},
		// The typed text may be a name that contains operators.
		{"Walk (long)", "Walk long", "Walk (long)"}, {" walk  (LONG) ", "walk LONG", "Walk (long)"},
		{"(walk long)", "walk long", ""},
	} {
		q := sheaf.Query{Text: tt.text, Meaning: tt.meaning, Words: sheaf.Match{Text: "dog runs"}, Limit: 9}
		got := ""
		for _, h := range mustSearch(t, s, q, p, search.Options{Explain: true}).Hits {
			told := must.Get(json.Marshal(h.Explanation))
			if strings.Contains(string(told), "equals the query") {
				got += h.Title
			}
		}
		if got != tt.want {
			t.Errorf("%q, with the meaning %q: %q counts as its name, want %q", tt.text, tt.meaning, got, tt.want)
		}
	}
}
