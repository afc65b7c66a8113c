package postings

import (
	"testing"

	"sheaf/internal/check"
)

// TestPositionsRelease checks that an idle reader releases the memory of a block with very many
// positions. A reader that gets another list keeps it.
func TestPositionsRelease(t *testing.T) {
	large := func() (r PositionReader) {
		r.positions, r.numbers = make([]uint32, 0, 2*mostKept), make([]uint64, 0, 2*mostKept)
		return r
	}
	for _, c := range []struct {
		name    string
		lengths func(uint32) uint32
		want    int
	}{{"nothing", nil, 0}, {"another list", func(uint32) uint32 { return 1 }, 2 * mostKept}} {
		r := large()
		r.Reset(c.lengths)
		check.That(t, cap(r.positions) == c.want && cap(r.numbers) == c.want,
			"%s: room for %d positions and %d numbers is kept, want %d", c.name, cap(r.positions), cap(r.numbers), c.want)
	}
}
