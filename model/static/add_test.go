package static

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf/internal/must"
)

// TestKernelsEqualGo checks that the kernels and Go give the same bits, for any number of pieces and numbers.
func TestKernelsEqualGo(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	type add func(dst []float32, rows, scales []byte, pieces []int32, weight float32)
	const all = 9
	check := func(name string, dims, size, count int, kernel, plain add) {
		rows, a, pieces := make([]byte, all*size), make([]float32, dims), make([]int32, count)
		var scales []byte
		for i := range rows {
			rows[i] = byte(random.Uint32())
		}
		for i := range a {
			a[i] = random.Float32() - 0.5
		}
		for range all {
			scales = binary.LittleEndian.AppendUint32(scales, math.Float32bits(random.Float32()/100))
		}
		for i := range pieces {
			pieces[i] = random.Int32N(all)
		}
		b, weight := slices.Clone(a), random.Float32()
		kernel(a, rows, scales, pieces, weight)
		plain(b, rows, scales, pieces, weight)
		for i := range a {
			must.That(t, math.Float32bits(a[i]) == math.Float32bits(b[i]),
				"%s, seed %d, length %d, %d pieces: number %d is %v, plain Go gives %v", name, seed, dims, count, i, a[i], b[i])
		}
	}
	for count := range 5 {
		for dims := 1; dims < 300; dims++ {
			check("rows", dims, dims, count, addRows, addRowsPlain)
		}
		for dims := 32; dims <= 512; dims += 32 {
			check("halves", dims, dims/2, count, addHalves, addHalvesPlain)
		}
	}
}
