package postings

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf/internal/must"
)

// TestBits writes and reads numbers and sets of all shapes. It checks that a number below n takes
// no more bits than n-1.
func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 2000 {
		var w bitWriter
		type entry struct {
			n, v    uint64
			numbers []uint64
			lo, hi  uint64
		}
		var entries []entry
		most := 0
		for range 1 + rng.IntN(20) {
			e := entry{n: 1 + rng.Uint64N(1<<rng.IntN(34)), lo: rng.Uint64N(1 << 30)}
			e.v = rng.Uint64N(e.n)
			e.hi = e.lo + rng.Uint64N(1<<rng.IntN(20))
			for v := e.lo; v <= e.hi; v += 1 + rng.Uint64N(1<<rng.IntN(20)) {
				e.numbers = append(e.numbers, v)
			}
			w.writeBelow(e.v, e.n)
			w.set(e.numbers, e.lo, e.hi)
			most += bits.Len64(e.n-1) + len(e.numbers)*bits.Len64(e.hi-e.lo)
			entries = append(entries, e)
		}
		w.flush()
		must.That(t, len(w.out) <= most/8+1, "%d bytes for at most %d bits", len(w.out), most)
		r := bitReader{src: w.out}
		for i, e := range entries {
			v := r.readBelow(e.n)
			numbers := make([]uint64, len(e.numbers))
			readSet(&r, numbers, e.lo, e.hi)
			must.That(t, v == e.v && slices.Equal(numbers, e.numbers) && r.ok(),
				"entry %d: %d below %d is read as %d; %v as %v; ok %v", i, e.v, e.n, v, e.numbers, numbers, r.ok())
		}
		for range 9 {
			r.get(56)
		}
		must.That(t, !r.ok(), "bits beyond the end are not noticed")
	}
}
