package segment

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// TestRowsKeepVectors: a row loses less than 0.004 a dimension and 0.01 of a
// similarity, and writing it again changes no byte.
func TestRowsKeepVectors(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		dims := 1 + r.IntN(400)
		unit := func() []float32 {
			v, square := make([]float32, dims), 0.0
			for i := range v {
				x := r.NormFloat64()
				v[i] = float32(x)
				square += x * x
			}
			for i := range v {
				v[i] = float32(float64(v[i]) / math.Sqrt(square))
			}
			return v
		}
		v, q := unit(), unit()
		row := appendRow(nil, v)
		if len(row) != rowBytes(dims) {
			t.Fatalf("%d bytes for %d dimensions", len(row), dims)
		}
		scale := math.Float32frombits(binary.LittleEndian.Uint32(row))
		again, exact := make([]float32, dims), 0.0
		for i := range v {
			again[i] = float32(int8(row[scaleBytes+i])) * scale
			if math.Abs(float64(again[i]-v[i])) > 0.004 {
				t.Fatalf("seed %d: %v is kept as %v", seed, v[i], again[i])
			}
			exact += float64(v[i]) * float64(q[i])
		}
		if got := float64(dotRow(q, row)); math.Abs(got-exact) > 0.01 {
			t.Errorf("seed %d: similarity %v, exactly %v", seed, got, exact)
		}
		if !bytes.Equal(appendRow(nil, again), row) {
			t.Errorf("seed %d: writing a row again changed it", seed)
		}
	}
	if row := appendRow(nil, []float32{0, 0}); dotRow([]float32{1, 1}, row) != 0 {
		t.Error("a vector of zeros")
	}
	if rowBytes(256)+ordinalBytes > 300 {
		t.Errorf("%d bytes for a vector of 256 dimensions", rowBytes(256)+ordinalBytes)
	}
}

// BenchmarkScan scans 100,000 rows of 256 dimensions.
func BenchmarkScan(b *testing.B) {
	const n, dims = 100_000, 256
	r := rand.New(rand.NewPCG(1, 1))
	v := make([]float32, dims)
	var rows []byte
	for range n {
		for i := range v {
			v[i] = float32(r.NormFloat64()) / 16
		}
		rows = appendRow(rows, v)
	}
	for b.Loop() {
		var best float32
		for i := range n {
			best = max(best, dotRow(v, rows[i*rowBytes(dims):(i+1)*rowBytes(dims)]))
		}
	}
}
