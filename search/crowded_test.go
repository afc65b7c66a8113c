package search_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
)

// crowd is a shelf with a document of hundreds of sections that hold a word, and a few
// documents that hold it once.
func crowd() *shelf {
	docs := map[string][]string{}
	for i := range 300 {
		docs["crowd.md"] = append(docs["crowd.md"], fmt.Sprintf("Section %d: cat and cat", i))
	}
	docs["crowd.md"][50] = "Section 50: a cat of its own" // which is nearer by meaning alone
	for i := range 12 {
		docs[fmt.Sprintf("n%d.md", i)] = []string{"A: once upon a time there lived a cat beside a cat"}
	}
	return newShelf(docs)
}

func parse(t *testing.T, text string) *profile.Profile {
	t.Helper()
	p, err := profile.Parse("test.yaml", []byte(text), profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const crowded = `name: crowded
branches:
  - {name: words, retrieve: text, fields: {body: 1}, limit: 2 x limit}
  - {name: meaning, retrieve: vector, limit: 2 x limit, weight: 1000}
fuse: {method: scores, norm: none, mean: sum}
then: [per_document: 3, top: limit]
`

// TestWidened: where one document fills what is retrieved, others are found beside it, and
// what was asked of models and of the query's words is asked as before.
func TestWidened(t *testing.T) {
	shelf := crowd()
	s := searcher(shelf)
	embedded, asked := 0, map[string]int{}
	s.Embed = func(_ context.Context, text string) ([]float32, error) {
		embedded++
		return vector(text), nil
	}
	var mu sync.Mutex
	shelf.fail = func(req store.Request) error {
		mu.Lock()
		defer mu.Unlock()
		if req.Text != nil {
			asked[fmt.Sprintf("%#v", req.Text.Query)]++
		}
		return nil
	}
	r := mustSearch(t, s, query("cat", 10), parse(t, crowded), search.Options{Terms: []string{"wall"}})
	if len(r.Hits) != 10 {
		t.Errorf("found %v", found(r))
	}
	if embedded != 1 {
		t.Errorf("the query is embedded %d times", embedded)
	}
	if len(asked) != 1 {
		t.Errorf("other words are asked for when the search is widened: %v", asked)
	}
	times := 0
	for _, took := range r.Took {
		if took.Step == "words: retrieve" {
			times++
		}
	}
	for _, n := range asked {
		if n < 2 || times != n {
			t.Errorf("words are retrieved %d times, and %d are timed", n, times)
		}
	}
}

// TestWidenedInVain: where a search that is widened loses a branch, the answer is that of
// the search before, as it was.
func TestWidenedInVain(t *testing.T) {
	shelf := crowd()
	s := searcher(shelf)
	shelf.fail = func(req store.Request) error {
		if vectors(req) && req.Limit > 20 {
			return errDown
		}
		return nil
	}
	for _, room := range []*search.Room{nil, {}} {
		r := mustSearch(t, s, query("cat", 10), parse(t, crowded), search.Options{Room: room})
		if r.Degraded || len(r.Hits) != 3 || r.Hits[0].ID != "t:crowd.md#Section 50" {
			t.Errorf("in memory %v: %v, degraded: %v", room, found(r), r.Degraded)
		}
	}
}

// TestNotWidened: a search of which other stages leave little is not made again.
func TestNotWidened(t *testing.T) {
	shelf := crowd()
	for _, then := range []string{"[per_document: 6, elbow: {ratio: 0.9, max: 3}]", "[elbow: {ratio: 0.1, max: 4}, per_document: 3]"} {
		before := shelf.requests.Load()
		r := mustSearch(t, searcher(shelf), query("cat", 10), parse(t, strings.Replace(crowded, "[per_document: 3, top: limit]", then, 1)), search.Options{})
		if n := shelf.requests.Load() - before; len(r.Hits) != 3 || n != 2 {
			t.Errorf("%s: found %v with %d requests, want 2", then, found(r), n)
		}
	}
}
