package engine

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf/internal/must"
)

func aboveGo(mask *[windowLen / 64]uint64, sums *[windowLen]float64, need float64) {
	clear(mask[:])
	for i, sum := range sums {
		if sum >= need {
			mask[i>>6] |= 1 << (i & 63)
		}
	}
}

// compareAbove compares above, the loop for this processor, with plain Go.
func compareAbove(t *testing.T, sums *[windowLen]float64, need float64) {
	t.Helper()
	if above == nil {
		t.Skip("this machine has none")
	}
	var got, want [windowLen / 64]uint64
	for i := range got {
		got[i] = ^uint64(0) // above overwrites this
	}
	above(&got, sums, need)
	aboveGo(&want, sums, need)
	must.Equal(t, got, want, "at least %v", need)
}

func takeGo(ordinals *[windowLen]uint32, taken, sums *[windowLen]float64, start uint32, need float64) (n int) {
	for i, sum := range sums {
		if sum >= need {
			ordinals[n], taken[n] = start+uint32(i), sum
			n++
		}
	}
	clear(sums[:])
	return n
}

// compareTake compares take, which also copies the sums, with plain Go.
func compareTake(t *testing.T, sums *[windowLen]float64, need float64) {
	t.Helper()
	if take == nil {
		return
	}
	const start = 7 * windowLen
	var ordinals, wantOrdinals [windowLen]uint32
	// take must not change the memory around the sums.
	guarded := struct{ before, sums, behind, taken, end [windowLen]float64 }{sums: *sums}
	for _, guard := range []*[windowLen]float64{&guarded.before, &guarded.behind, &guarded.end} {
		for i := range guard {
			guard[i] = math.Pi
		}
	}
	want, wantSums := [windowLen]float64{}, *sums
	n, wantN := take(&ordinals, &guarded.taken, &guarded.sums, start, need),
		takeGo(&wantOrdinals, &want, &wantSums, start, need)
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	must.That(t, n == wantN && slices.Equal(ordinals[:n], wantOrdinals[:n]) &&
		slices.EqualFunc(guarded.taken[:n], want[:n], same), "at least %v: %d, %v %v; want %d, %v %v", need, n, ordinals[:n],
		guarded.taken[:n], wantN, wantOrdinals[:wantN], want[:wantN])
	must.Equal(t, guarded.sums, wantSums, "sums")
	for _, guard := range []*[windowLen]float64{&guarded.before, &guarded.behind, &guarded.end} {
		must.That(t, !slices.ContainsFunc(guard[:], func(v float64) bool { return v != math.Pi }),
			"what lies beside was written to")
	}
}

func TestAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var sums [windowLen]float64
		for i := range sums {
			sums[i] = []float64{0, rng.Float64(), float64(rng.IntN(4)), math.Inf(1)}[rng.IntN(4)]
		}
		for _, need := range []float64{rng.Float64(), 1, 2, sums[rng.IntN(windowLen)], math.SmallestNonzeroFloat64,
			math.Inf(1)} {
			compareAbove(t, &sums, need)
			compareTake(t, &sums, need)
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
		compareTake(t, &sums, need)
	})
}
