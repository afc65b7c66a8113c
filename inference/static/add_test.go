package static

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAddRowTwins: the kernel and plain Go give the same bits, for every length
// around the block size and beyond.
func TestAddRowTwins(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	for n := range 300 {
		row, a := make([]byte, n), make([]float32, n)
		for i := range row {
			row[i], a[i] = byte(random.Uint32()), random.Float32()-0.5
		}
		b := append([]float32(nil), a...)
		scale := random.Float32() / 100
		addRow(a, row, scale)
		addRowPlain(b, row, scale)
		for i := range a {
			if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
				t.Fatalf("seed %d, length %d: number %d is %v, plain Go gives %v", seed, n, i, a[i], b[i])
			}
		}
	}
}
