package search_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/search"
)

// TestHighlightersReleased: memory that served other queries changes no snippet, neither
// one that is cut with it nor one that was returned before, whoever else cuts some.
func TestHighlightersReleased(t *testing.T) {
	queries := []sheaf.TextQuery{
		nil, sheaf.Match{Text: "undo the commit"}, sheaf.Match{Text: "red fox"}, sheaf.Match{Text: "to be"}, sheaf.Phrase{Text: "to be"},
		sheaf.Prefix{Text: "rate-lim"}, sheaf.Fuzzy{Text: "comit", Distance: 1}, sheaf.Match{Text: "库 fox"},
		sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Match{Text: "user name"}, sheaf.Fuzzy{Text: "foz", Distance: 1}, sheaf.Prefix{Text: "com"}}},
	}
	var texts []string
	for i := range 7 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("Line %d of [the red fox](http://commit.example/fox), to be read by getUserName. ", i), 1+5*i)+"The commits are rate-limited, 数据库 too. Undo.")
	}
	cut := func(h *search.Highlighter) (out []search.Snippet) {
		for i, text := range texts {
			out = append(out, h.Snippet(text, 30+20*i))
		}
		return out
	}
	var want [][]search.Snippet
	for _, q := range queries {
		want = append(want, cut(highlighter(t, q)))
	}
	var wg sync.WaitGroup
	for from := range 4 {
		wg.Go(func() {
			got := map[int][]search.Snippet{}
			for n := range 5 * len(queries) {
				i := (from + 2*n) % len(queries)
				h := highlighter(t, queries[i])
				got[i] = cut(h)
				h.Release()
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Errorf("%v:\n%+v, want\n%+v", queries[i], got[i], want[i])
				}
			}
		})
	}
	wg.Wait()
}
