package engine

import (
	"math/rand/v2"
	"testing"
)

// TestHashSet checks that a set has only the hashes added to it. It treats 0 and 1 as one hash.
func TestHashSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var s hashSet
	defer s.free()
	want := map[uint64]bool{}
	for range 50_000 {
		h := rng.Uint64N(20_000) * 0x9e3779b97f4a7c15 // evenly spread, as hashes are
		if rng.IntN(4) == 0 {
			h = rng.Uint64N(100)
		}
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
	count := 0
	for _, t := range s.tables {
		count += t.count
	}
	if count != len(want) {
		t.Errorf("%d hashes, want %d", count, len(want))
	}
}

// TestHashSetMemory checks that a set of many hashes uses few bytes for each. While the set grows,
// little of it exists twice.
func TestHashSetMemory(t *testing.T) {
	var s hashSet
	defer s.free()
	rng := rand.New(rand.NewPCG(9, 10))
	const n = 300_000
	for i := range n {
		s.add(rng.Uint64())
		if i < 100_000 || i%1000 > 0 {
			continue
		}
		largest, held := int64(0), int64(0)
		for k := range s.tables {
			bytes := s.tables[k].slots.Bytes()
			largest, held = max(largest, bytes), held+bytes
		}
		if held != s.bytes || held > 18*int64(i) || largest > held/20 {
			t.Fatalf("%d hashes take %d bytes, said to be %d, the largest table %d", i, held, s.bytes, largest)
		}
	}
}
