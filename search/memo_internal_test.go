package search

import (
	"testing"

	"sheaf/rank"
)

// Tables of one search with very many hits are not cleared for every small one after it.
func TestLargeTablesAreNotKept(t *testing.T) {
	for range 10 {
		m := newMemo(struct{ rank.Facts }{})
		m.expect(400_000)
		m.release()
		if m = newMemo(struct{ rank.Facts }{}); len(m.nodes) > maxKeptSlots {
			t.Fatalf("a search for few hits has a table of %d slots, want at most %d", len(m.nodes), maxKeptSlots)
		}
		m.release()
	}
}
