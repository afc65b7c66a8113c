package engine

import (
	"math/rand/v2"
	"testing"

	"sheaf/index/engine/segment"
	"sheaf/internal/must"
)

// TestWordCache checks that exactly the inserted words are found. The words have all lengths and
// often one beginning, and are in the middle or at the end of texts.
func TestWordCache(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 4))
	var c wordCache
	defer c.free()
	known := map[string]uint32{}
	for round := range 20_000 {
		text := make([]byte, 1+rng.IntN(60))
		for i := range text {
			text[i] = "ab"[rng.IntN(2)]
		}
		start := rng.IntN(len(text))
		end := start + 1 + rng.IntN(len(text)-start)
		word := string(text[start:end])
		head := wordHead(string(text), start, end)
		e := c.find(word, head)
		first, ok := known[word]
		if ok != (e != nil) || ok && (e.count == singleToken) != (first%3 > 0) ||
			ok && e.count == singleToken && e.first != first ||
			ok && e.count == 1 && c.tokens.Items[e.first].Term != first {
			t.Fatalf("round %d: %q: found %v, want %v", round, word, e != nil, ok)
		}
		if !ok {
			at := len(c.tokens.Items)
			c.tokens.Add(segment.Token{Term: uint32(round)})
			if round%3 == 0 {
				c.tokens.Items[at].Position = 1
			}
			must.That(t, c.insert(word, head, at, 1), "round %d: %q is not kept", round, word)
			known[word] = uint32(round)
		}
	}
}
