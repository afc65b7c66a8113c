package vector

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// kernelSample is random input for kernels: codes, rows and a query.
type kernelSample struct {
	words, groups int
	codes, rows   []byte
	index         []uint32
	q             query
	least         int32
}

func newSample(r *rand.Rand, words, groups int) *kernelSample {
	s := &kernelSample{words: words, groups: groups, least: int32(r.IntN(33) - 16)}
	count := groups * GroupRows
	s.codes = make([]byte, count*words*8)
	s.rows = make([]byte, count*words*wordBits)
	extreme := r.IntN(3)
	for _, b := range [][]byte{s.codes, s.rows} {
		for i := range b {
			switch b[i] = byte(r.Uint32()); extreme {
			case 1:
				b[i] |= 0xfe
			case 2:
				b[i] |= byte(r.Uint32())
			}
		}
	}
	for range r.IntN(count + 1) {
		s.index = append(s.index, uint32(r.IntN(count)))
	}
	slices.Sort(s.index)
	v := make([]float32, words*wordBits)
	for i := range v {
		v[i] = float32(r.NormFloat64())
		if extreme == 1 {
			v[i] = 1
		}
	}
	NewEncoder(len(v)).prepare(&s.q, v)
	return s
}

func (s *kernelSample) compare(t *testing.T, k kernel) {
	t.Helper()
	count := s.groups * GroupRows
	want, got := make([]int32, count), make([]int32, count)
	wantMask, gotMask := make([]byte, s.groups), make([]byte, s.groups)
	scanGo(want, wantMask, s.codes, &s.q, s.least)
	k.scan(got, gotMask, s.codes, &s.q, s.least)
	must.That(t, slices.Equal(got, want) && slices.Equal(gotMask, wantMask),
		"%s: %d words, %d groups: estimates %v %v, want %v %v", k.name, s.words, s.groups, got, gotMask, want, wantMask)
	words := make([]int32, (count+wordBits-1)/wordBits*wordBits)
	copy(words, want)
	wantMask, gotMask = make([]byte, len(words)/8), make([]byte, len(words)/8)
	for _, least := range []int32{s.least, math.MinInt32, math.MaxInt32} {
		aboveGo(wantMask, words, least)
		if k.above(gotMask, words, least); !slices.Equal(gotMask, wantMask) {
			t.Fatalf("%s: %v above %d: %v, want %v", k.name, words, least, gotMask, wantMask)
		}
	}
	want, got = make([]int32, len(s.index)), make([]int32, len(s.index))
	dotGo(want, s.rows, s.index, s.codes, s.q.numbers)
	k.dot(got, s.rows, s.index, s.codes, s.q.numbers)
	must.That(t, slices.Equal(got, want), "%s: %d words: products %v, want %v", k.name, s.words, got, want)
}

// TestKernels checks that each kernel of this machine returns the same numbers as the plain one.
func TestKernels(t *testing.T) {
	t.Logf("this machine has %d kernels, the first is %s", len(kernels), Kernel())
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newSample(r, 1+r.IntN(20), 1+r.IntN(12))
		for _, k := range kernels {
			s.compare(t, k)
		}
	}
	for _, words := range []int{48, 64, 65, 1024} {
		s := newSample(rand.New(rand.NewPCG(uint64(words), 3)), words, 5)
		for _, k := range kernels {
			s.compare(t, k)
		}
	}
}

// TestKernelBounds checks that an invalid row makes each kernel panic, at any place in the index.
func TestKernelBounds(t *testing.T) {
	s := newSample(rand.New(rand.NewPCG(2, 3)), 4, 2)
	const count = 2 * GroupRows
	for _, k := range kernels {
		for _, index := range [][]uint32{{count}, {0, count, 1}, {math.MaxUint32, 0}} {
			func() {
				defer func() {
					check.That(t, recover() != nil, "%s: rows %d of %d", k.name, index, count)
				}()
				k.dot(make([]int32, len(index)), s.rows, index, s.codes, s.q.numbers)
			}()
		}
	}
}

// TestPlainKernel compares the plain kernel with its definition: a query's numbers times a row's signed numbers, and
// estimates by dimension.
func TestPlainKernel(t *testing.T) {
	s := newSample(rand.New(rand.NewPCG(1, 3)), 3, 4)
	out, mask := make([]int32, 32), make([]byte, 4)
	scanGo(out, mask, s.codes, &s.q, s.least)
	small := make([]int32, len(s.q.numbers))
	for i := range small {
		for p, weight := range []int32{1, 2, 4, -8} {
			small[i] += weight * int32(s.q.planes[i/wordBits*planeCount+p]>>(i%wordBits)&1)
		}
		want := int32(math.RoundToEven(float64(-s.q.x[i]) / float64(maxAbs(s.q.x)) * planeMost))
		must.That(t, small[i] == want, "number %d is %d in planes, want %d", i, small[i], want)
	}
	marked := make([]byte, 8)
	aboveGo(marked, append(slices.Clone(out), make([]int32, 32)...), s.least)
	for row := range 32 {
		code := Code(nil, s.codes, row, 3)
		var sum, product int32
		for i, n := range small {
			m := int32(s.rows[row*len(small)+i])
			if code[i/wordBits]>>(i%wordBits)&1 != 0 {
				sum += n
				m = -m
			}
			product += m * int32(s.q.numbers[i])
		}
		looked := int32(0)
		for w, word := range code {
			for at := range 16 {
				half, b := at/8, at%8
				looked += int32(s.q.tables[w*tableBytes+16*at+int(word>>(8*b+4*half)&15)]) - tableBias
			}
		}
		check.That(t, looked == sum, "row %d is estimated as %d by tables, want %d", row, looked, sum)
		check.That(t, out[row] == sum && estimate(s.q.planes, code) == sum &&
			(mask[row/8]>>(row%8)&1 != 0) == (sum > s.least) && mask[row/8] == marked[row/8],
			"row %d is estimated as %d and %d, want %d; mask %08b", row, out[row], estimate(s.q.planes, code), sum, mask[row/8])
		got := make([]int32, 1)
		if dotGo(got, s.rows, []uint32{uint32(row)}, s.codes, s.q.numbers); got[0] != product {
			t.Errorf("row %d times the query is %d, want %d", row, got[0], product)
		}
	}
}

// FuzzKernels compares all kernels on arbitrary bytes.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("some bytes"), uint8(4), uint16(3))
	f.Add(slices.Repeat([]byte{255}, 700), uint8(6), uint16(65535))
	f.Add([]byte{}, uint8(1), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, words uint8, seed uint16) {
		s := newSample(rand.New(rand.NewPCG(uint64(seed), 3)), 1+int(words%24), 1+int(words/24))
		copy(s.codes, data)
		copy(s.rows, data)
		for i := 0; 2*i+1 < len(data) && i < len(s.q.numbers); i++ {
			// As after prepare, the sum of products stays within 32 bits.
			n := int16(binary.LittleEndian.Uint16(data[2*i:]))
			s.q.numbers[i] = int16(int(n) % (math.MaxInt32/maxLevel/len(s.q.numbers) + 1))
		}
		for i := 0; 8*i+7 < len(data) && i < len(s.q.planes); i++ {
			s.q.planes[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		s.q.tabulate()
		for _, k := range kernels {
			s.compare(t, k)
		}
	})
}

func BenchmarkKernels(b *testing.B) {
	for _, dims := range []int{256, 384} {
		r := rand.New(rand.NewPCG(1, 3))
		s := newSample(r, dims/wordBits, 128)
		out, mask := make([]int32, 1024), make([]byte, 128)
		index := make([]uint32, 1024)
		for i := range index {
			index[i] = uint32(i)
		}
		for _, k := range kernels {
			b.Run(k.name+"/scan/"+strconv.Itoa(dims), func(b *testing.B) {
				for b.Loop() {
					k.scan(out, mask, s.codes, &s.q, 100)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/vector")
			})
			b.Run(k.name+"/above/"+strconv.Itoa(dims), func(b *testing.B) {
				for b.Loop() {
					k.above(mask, out, 100)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/vector")
			})
			b.Run(k.name+"/dot/"+strconv.Itoa(dims), func(b *testing.B) {
				for b.Loop() {
					k.dot(out, s.rows, index, s.codes, s.q.numbers)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/vector")
			})
		}
	}
}
