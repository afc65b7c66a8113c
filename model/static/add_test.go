package static

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf/internal/must"
)

// TestKernelsEqualGo checks that the kernels and Go give the same bits, for all lengths around a block.
func TestKernelsEqualGo(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	type add func(dst []float32, row []byte, scale float32)
	check := func(name string, n, bytes int, kernel, plain add) {
		row, a := make([]byte, bytes), make([]float32, n)
		for i := range row {
			row[i] = byte(random.Uint32())
		}
		for i := range a {
			a[i] = random.Float32() - 0.5
		}
		b, scale := slices.Clone(a), random.Float32()/100
		kernel(a, row, scale)
		plain(b, row, scale)
		for i := range a {
			must.That(t, math.Float32bits(a[i]) == math.Float32bits(b[i]),
				"%s, seed %d, length %d: number %d is %v, plain Go gives %v", name, seed, n, i, a[i], b[i])
		}
	}
	for n := range 300 {
		check("rows", n, n, addRow, addRowPlain)
	}
	for n := 0; n <= 512; n += 32 {
		check("halves", n, n/2, addHalves, addHalvesPlain)
	}
}
