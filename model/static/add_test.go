package static

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAddRowKernelEqualsGo checks that the kernel and Go give the same bits, for all lengths around a block.
func TestAddRowKernelEqualsGo(t *testing.T) {
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

// TestAddHalvesKernelEqualsGo checks that the kernel and Go give the same bits, for all lengths of rows.
func TestAddHalvesKernelEqualsGo(t *testing.T) {
	const seed = 8
	random := rand.New(rand.NewPCG(seed, seed))
	for n := 0; n <= 512; n += 32 {
		row, a := make([]byte, n/2), make([]float32, n)
		for i := range row {
			row[i] = byte(random.Uint32())
		}
		for i := range a {
			a[i] = random.Float32() - 0.5
		}
		b := append([]float32(nil), a...)
		scale := random.Float32() / 100
		addHalves(a, row, scale)
		addHalvesPlain(b, row, scale)
		for i := range a {
			half := int(row[i/32*16+i%16] >> (i / 16 % 2 * 4) & 15)
			if want := b[i]; math.Float32bits(a[i]) != math.Float32bits(want) || half > 15 {
				t.Fatalf("seed %d, length %d: number %d is %v, plain Go gives %v", seed, n, i, a[i], want)
			}
		}
	}
}

func BenchmarkAddHalves(b *testing.B) {
	dst, row := make([]float32, 256), make([]byte, 128)
	for b.Loop() {
		addHalves(dst, row, 0.01)
	}
}

func BenchmarkAddRow(b *testing.B) {
	dst, row := make([]float32, 256), make([]byte, 256)
	for b.Loop() {
		addRow(dst, row, 0.01)
	}
}
