package bm25_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sheaf/index/engine/bm25"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestWorkedExample checks a score computed by hand. 2 of 10 chunks have the term 3 times; the field has 12 terms,
// with an average of 8.
func TestWorkedExample(t *testing.T) {
	idf := bm25.IDF(2, 10)
	if want := math.Log(4.4); math.Abs(idf-want) > 1e-15 { // 1 + 8.5/2.5
		t.Errorf("idf is %v, want %v", idf, want)
	}
	norm := bm25.Parameters{K1: 1.2, B: 0.75}.Norm(12, 8)
	if math.Abs(norm-1.65) > 1e-15 { // 1.2 x (0.25 + 0.75 x 1.5)
		t.Errorf("norm is %v, want 1.65", norm)
	}
	got := bm25.Saturation(3, norm)
	check.That(t, math.Abs(got-3/4.65) <= 1e-15, "saturation is %v, want %v", got, 3/4.65)
}

// TestBoundsHold checks the assumptions of pruning. Scores grow with the frequency and fall with the length, and idf
// is above 0.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		p := bm25.Parameters{K1: rng.Float64() * 5, B: rng.Float64()}
		average, length := 1+rng.Float64()*200, float64(rng.IntN(5000))
		frequency := float64(1 + rng.IntN(100))
		score := bm25.Saturation(frequency, p.Norm(length, average))
		more := bm25.Saturation(frequency+1, p.Norm(length, average))
		must.That(t, more >= score, "%+v: frequency %v scores %v, one more %v", p, frequency, score, more)
		longer := bm25.Saturation(frequency, p.Norm(length+1, average))
		must.That(t, longer <= score, "%+v: length %v scores %v, one more %v", p, length, score, longer)
		n := 1 + rng.IntN(1_000_000)
		idf := bm25.IDF(1+rng.IntN(n), n)
		must.That(t, idf > 0, "idf is %v", idf)
	}
}

// TestLengths checks that the stored lengths are those that Lucene's intToByte4 keeps and fit in
// one byte. Each length takes the nearest, and longer ones never take a smaller value.
func TestLengths(t *testing.T) {
	floor := func(n uint32) uint32 {
		if n < 24 {
			return n
		}
		n -= 24
		shift := 0
		for n>>shift >= 16 {
			shift++
		}
		return 24 + n>>shift<<shift
	}
	kept, last, above := map[uint32]bool{}, uint32(0), uint32(0)
	for n := range uint32(20_000) {
		must.That(t, bm25.LengthsExact.Of(n) == n, "%d terms count as %d", n, bm25.LengthsExact.Of(n))
		got := bm25.LengthsLucene.Of(n)
		if above < n {
			for above = n; floor(above) != above; above++ {
			}
		}
		if floor(got) != got || got < last || n-min(n, got) > n-floor(n) || got-min(n, got) > above-n ||
			got != n && got != floor(n) && got != above {
			t.Fatalf("%d terms count as %d, between %d and %d", n, got, floor(n), above)
		}
		if down, up := n-floor(n), above-n; down < up && got > n || up < down && got < n {
			t.Fatalf("%d terms count as %d, which is not the nearest", n, got)
		}
		kept[got], last = true, got
	}
	check.That(t, len(kept) <= 256, "%d different lengths", len(kept))
	for _, n := range []uint32{math.MaxUint32, math.MaxUint32 - 1, 1 << 31, 1<<31 - 1} {
		got := bm25.LengthsLucene.Of(n)
		check.That(t, got >= n-n/16, "%d terms count as %d", n, got)
	}
}

func TestStatistics(t *testing.T) {
	var f bm25.Field
	check.Equal(t, f.Average(), 1, "the average of nothing")
	f.Add(bm25.Field{Chunks: 3, Tokens: 30})
	f.Remove(bm25.Field{Chunks: 1, Tokens: 4})
	check.Equal(t, f.Average(), 13, "the average")
}

func ExampleParameters_Norm() {
	p := bm25.Parameters{K1: 1.2, B: 0.75}
	for _, length := range []float64{50, 100, 400} {
		fmt.Printf("%.3f\n", bm25.Saturation(2, p.Norm(length, 100)))
	}
	// Output:
	// 0.727
	// 0.625
	// 0.339
}
