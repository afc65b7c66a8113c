package engine

import (
	"math/rand/v2"
	"testing"
)

// TestHashSet: a set has what was added and nothing else, but for 0 and 1, which are one.
func TestHashSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var s hashSet
	defer s.free()
	want := map[uint64]bool{}
	for range 50_000 {
		h := rng.Uint64N(20_000) << (rng.Uint64N(2) * 40)
		same := max(h, 1)
		if s.has(h) != want[same] {
			t.Fatalf("%d is there: %v, want %v", h, s.has(h), want[same])
		}
		if rng.IntN(2) == 0 {
			if s.add(h) == want[same] {
				t.Fatalf("%d is new: %v", h, want[same])
			}
			want[same] = true
		}
	}
	if s.count != len(want) {
		t.Errorf("%d hashes, want %d", s.count, len(want))
	}
}
