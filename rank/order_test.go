package rank_test

import (
	"slices"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/rank"
)

// TestReadingOrder runs the worked example. Hits with nearly equal scores come in document order;
// places and scores stay.
func TestReadingOrder(t *testing.T) {
	l := newShelf()
	a := l.add("t:a.md", "A", "One", "Two", "Three")
	l.add("t:b.md", "B")
	one, two, three := a.Chunks[1].ID, a.Chunks[2].ID, a.Chunks[3].ID
	in := ranking(hit(three, 0.500), hit("t:b.md", 0.498), hit(one, 0.495), hit(two, 0.3))
	out := apply(t, rank.ReadingOrder{Within: 0.01}, withReasons(in), rank.Env{Facts: l})
	got, want := ids(out), []sheaf.ID{one, "t:b.md", three, two}
	check.That(t, slices.Equal(got, want), "order %v, want %v", got, want)
	for i, want := range []float64{0.500, 0.498, 0.495, 0.3} {
		check.Equal(t, out[i].Score, want, "score at rank %d", i+1)
	}
	checkReasons(t, "reading order", out)
	check.List(t, ids(apply(t, rank.ReadingOrder{}, in, rank.Env{Facts: l})), ids(in), "within 0")
}
