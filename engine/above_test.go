package engine

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func aboveGo(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64) {
	clear(mask[:])
	for i, sum := range sums {
		if sum >= need {
			mask[i>>6] |= 1 << (i & 63)
		}
	}
}

// compareAbove holds the loop of this machine to one in plain Go.
func compareAbove(t *testing.T, sums *[windowLen]float64, need float64) {
	t.Helper()
	if above == nil {
		t.Skip("this machine has none")
	}
	var got, want [windowLen / 64]uint64
	for i := range got {
		got[i] = ^uint64(0) // is overwritten
	}
	above(&got, sums, need)
	aboveGo(&want, sums, need)
	if got != want {
		t.Fatalf("at least %v: %x, want %x", need, got, want)
	}
}

func TestAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var sums [windowLen]float64
		for i := range sums {
			sums[i] = []float64{0, rng.Float64(), float64(rng.IntN(4)), math.Inf(1)}[rng.IntN(4)]
		}
		for _, need := range []float64{rng.Float64(), 1, 2, sums[rng.IntN(windowLen)], math.SmallestNonzeroFloat64, math.Inf(1)} {
			compareAbove(t, &sums, need)
		}
	}
}

func FuzzAbove(f *testing.F) {
	f.Add([]byte("some bytes of a few sums"), 1.5)
	f.Add([]byte{}, 0.0)
	f.Fuzz(func(t *testing.T, src []byte, need float64) {
		var sums [windowLen]float64
		for i := range sums {
			if len(src) > 0 {
				var b [8]byte
				copy(b[:], src[i*8%len(src):])
				sums[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
			}
		}
		compareAbove(t, &sums, need)
	})
}
