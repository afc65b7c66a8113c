package search_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"sheaf/search"
)

// TestRoom: hits that lie in memory that held others are those that lie in memory of their
// own, and that of one search is no part of the result of another.
func TestRoom(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("---\ntags: [even%d, t%d]\n---\n# Number %d\n\nA cat.\n\n## Part of %d\n\nA dog #inside%d, and a cat.\n", i%2, i, i, i, i)
	}
	store, view := notes(t, files)
	s := searcher(store)
	s.Facts = view
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 4))
	var room search.Room
	for range 60 {
		name, text, limit := []string{"sheaf", "rrf", "sonar"}[random.IntN(3)], []string{"cat", "dog", "cat part", "nothing"}[random.IntN(4)], 1+random.IntN(12)
		opt := search.Options{Explain: random.IntN(3) == 0, Evidence: random.IntN(2) == 0}
		want := mustSearch(t, s, query(text, limit), load(t, name), opt)
		before := written(t, want)
		opt.Room = &room
		if random.IntN(2) == 0 { // what another search found, and nobody cleared
			mustSearch(t, s, query("cat", 12), load(t, "sheaf"), opt)
		}
		got := mustSearch(t, s, query(text, limit), load(t, name), opt)
		if written(t, got) != before || !maps.Equal(got.Parameters, want.Parameters) {
			t.Fatalf("seed %d: %s with %s: in memory that held others\n%s\nalone\n%s", seed, text, name, written(t, got), before)
		}
		hits := got.Hits[:cap(got.Hits)]
		room.Clear()
		for i := range hits {
			if h := &hits[i]; h.ID != "" || h.Hierarchy != nil || h.Explanation != nil || h.Evidence != nil {
				t.Fatalf("seed %d: the room holds %+v after it was cleared", seed, *h)
			}
		}
		if written(t, want) != before {
			t.Fatalf("seed %d: %s with %s: a later search changed what was found without a room", seed, text, name)
		}
	}
}

// written are the hits of a result as JSON.
func written(t *testing.T, r *search.Result) string {
	t.Helper()
	b, err := json.Marshal(struct {
		Hits []search.Hit
		Legs []string
	}{r.Hits, r.Legs})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
