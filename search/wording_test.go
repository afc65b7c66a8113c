package search_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sheaf"
	"sheaf/search"
)

// TestWording: what is called exactly what was asked for is told whatever marks of the query
// language stand around it.
func TestWording(t *testing.T) {
	s, p := searcher(animals()), load(t, "sheaf")
	for _, tt := range []struct {
		text, meaning string
		want          bool
	}{
		{"walk", "walk", true}, {" Walk ", "", true}, {`"walk"`, "walk", true}, {"walk -meat path:x/", "walk", true},
		{"walk well", "walk well", false}, {"cat -walk", "cat", false}, {"walk path:x/", "", false},
	} {
		q := sheaf.Query{Text: tt.text, Meaning: tt.meaning, Words: sheaf.Match{Text: "dog runs"}, Limit: 9}
		got := false
		for _, h := range mustSearch(t, s, q, p, search.Options{Explain: true}).Hits {
			told, err := json.Marshal(h.Explanation)
			if err != nil {
				t.Fatal(err)
			}
			got = got || h.Title == "Walk" && strings.Contains(string(told), "exactly what was asked for")
		}
		if got != tt.want {
			t.Errorf("%q, of which %q is asked: Walk is said to be called so is %v", tt.text, tt.meaning, got)
		}
	}
}
