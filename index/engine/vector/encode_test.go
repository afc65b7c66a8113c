package vector

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

func unit(r *rand.Rand, dims int) []float32 {
	v, square := make([]float32, dims), 0.0
	for i := range v {
		x := r.NormFloat64()
		if i%50 == 3 {
			x *= 30 // some models have a few much larger dimensions
		}
		v[i] = float32(x)
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(square))
	}
	return v
}

func product(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// TestRotation checks that a rotation keeps lengths and products, and that undo reverses it.
func TestRotation(t *testing.T) {
	for _, padded := range []int{64, 128, 192, 256, 384, 832, 1536} {
		r := rand.New(rand.NewPCG(uint64(padded), 1))
		a, b := unit(r, padded), unit(r, padded)
		x, y := slices.Clone(a), slices.Clone(b)
		turn := newRotation(padded)
		turn.apply(x)
		turn.apply(y)
		check.That(t, math.Abs(product(x, x)-1) <= 1e-5 && math.Abs(product(x, y)-product(a, b)) <= 1e-5,
			"%d: lengths %v, products %v and %v", padded, product(x, x), product(x, y), product(a, b))
		check.That(t, maxAbs(x) <= 0.7*maxAbs(a), "%d: the largest number was %v and is %v", padded, maxAbs(a), maxAbs(x))
		turn.undo(x)
		for i := range x {
			must.That(t, math.Abs(float64(x[i]-a[i])) <= 1e-6, "%d: number %d was %v and came back as %v", padded, i, a[i], x[i])
		}
	}
}

// TestDocumentedVector checks the example of doc/formats/vectors.md. Existing indexes depend on
// these signs.
func TestDocumentedVector(t *testing.T) {
	b := NewBuffer(2)
	b.Add(3, []float32{0.6, -0.8})
	s := b.Set(4)
	got := fmt.Sprintf("%x %x %x %x %x", s.Rows[:4], s.Codes[:9], s.Scales, s.Owners, s.Firsts)
	check.That(t, got == "24ff24ff aaaaaaaaaaaaaaaa00 f2f1333a 030000 00000000" && len(s.Rows) == 64 && len(s.Codes) == 64,
		"the example is %s", got)
	var signs uint64
	for i, x := range flips(192, 1)[64:128] {
		if x < 0 {
			signs |= 1 << i
		}
	}
	check.That(t, signs == splitmix64(3) && splitmix64(0) == 0xe220a8397b1dcdaf, "signs %x, generator %x", signs,
		splitmix64(0))
}

// TestEncoding checks that a stored vector gives back numbers within 0.005, and similarities within 0.002. The
// similarity to itself is within 0.00002.
func TestEncoding(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		dims := 1 + r.IntN(900)
		v, q := unit(r, dims), unit(r, dims)
		e := NewEncoder(dims)
		row, code, scale := e.Encode(nil, nil, v)
		must.That(t, len(row) == e.RowBytes() && len(code) == e.Words(), "%d dimensions: %d bytes, %d words", dims, len(row),
			len(code))
		again := make([]float32, dims)
		e.Decode(again, row, code, scale)
		for i := range v {
			must.That(t, math.Abs(float64(again[i]-v[i])) <= 0.005, "seed %d: %v is kept as %v", seed, v[i], again[i])
		}
		for _, x := range [][]float32{q, v} {
			var made query
			e.prepare(&made, x)
			out := make([]int32, 1)
			dotGo(out, row, []uint32{0}, groupOf(code), made.numbers)
			got, exact := float64(out[0])*made.scale*float64(scale), product(x, v)
			allowed := 0.002
			if &x[0] == &v[0] {
				allowed = 2e-5
			}
			check.That(t, math.Abs(got-exact) <= allowed, "seed %d, %d dimensions: similarity %v, exactly %v", seed, dims, got,
				exact)
		}
	}
	n := Padded(256) + CodeBytes(256, 8)/8 + ScaleBytes + OwnerBytes + 1
	check.That(t, n <= 300, "%d bytes for a vector of 256 dimensions", n)
}

// groupOf returns a group with this code as its first.
func groupOf(code []uint64) []byte {
	group := make([]byte, GroupRows*len(code)*8)
	PutCode(group, 0, code)
	return group
}

// TestHostileVectors checks that vectors without unit length become zeros or finite values, and
// that no query overflows.
func TestHostileVectors(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	e := NewEncoder(3)
	for _, v := range [][]float32{{0, 0, 0}, {inf, 1, 0}, {nan, 0, 1}, {-inf, inf, nan},
		{math.MaxFloat32, 1, -math.MaxFloat32}, {1e-45, 0, -1e-45}, {5, 1, 0}} {
		row, code, scale := e.Encode(nil, nil, v)
		back := make([]float32, 3)
		e.Decode(back, row, code, scale)
		for _, x := range back {
			check.That(t, !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0), "%v is kept as %v", v, back)
		}
	}
	row, code, scale := e.Encode(nil, nil, []float32{0.6, 0, -0.8})
	for _, v := range [][]float32{{0, 0, 0}, {math.MaxFloat32, 0, -math.MaxFloat32}, {1e-45, 0, 0}, {1e-30, 0, 1e30}} {
		var q query
		e.prepare(&q, v)
		out := make([]int32, 1)
		dotGo(out, row, []uint32{0}, groupOf(code), q.numbers)
		got := float64(out[0]) * q.scale * float64(scale)
		want := 0.6*float64(v[0]) - 0.8*float64(v[2])
		check.That(t, math.Abs(got-want) <= 0.01*math.Max(math.Abs(float64(v[0])), math.Abs(float64(v[2]))),
			"%v scores %v, want %v", v, got, want)
	}
}

// TestLimit compares the selection with a sort by estimate. Among equal estimates, the first rows
// win; the result is in the order of rows.
func TestLimit(t *testing.T) {
	const padded = 64
	var c scanner
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		most := []int{0, 4, planeMost * padded}[seed%3]
		list := make([]survivor, r.IntN(300))
		for i := range list {
			list[i] = survivor{uint32(3 * i), int32(r.IntN(2*most+1) - most)}
		}
		n := 1 + r.IntN(300)
		sorted := slices.Clone(list)
		slices.SortStableFunc(sorted, func(a, b survivor) int { return cmp.Compare(b.estimate, a.estimate) })
		want, least := sorted[:min(n, len(sorted))], int32(math.MinInt32)
		if n < len(sorted) {
			least = want[n-1].estimate
		}
		slices.SortFunc(want, func(a, b survivor) int { return cmp.Compare(a.row, b.row) })
		c.list, c.lost = slices.Clone(list), math.MinInt32
		known, left := r.IntN(len(list)+1), 0
		for _, row := range want {
			if int(row.row) < 3*known {
				left++
			}
		}
		if got := c.limit(n, padded, known); got != left || !slices.Equal(c.list, want) || c.lost != least {
			t.Fatalf("seed %d, %d of %d: %v from %d on, want %v from %d on", seed, n, len(list), c.list, c.lost, want, least)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, dims := range []int{256, 384} {
		b.Run(strconv.Itoa(dims), func(b *testing.B) {
			v := unit(rand.New(rand.NewPCG(1, 1)), dims)
			e := NewEncoder(dims)
			var row []byte
			var code []uint64
			for b.Loop() {
				row, code, _ = e.Encode(row[:0], code[:0], v)
			}
		})
	}
}

// TestMeasurementOfEqualVectors checks that a measurement of many equal vectors keeps no more than it needs.
func TestMeasurementOfEqualVectors(t *testing.T) {
	for _, passages := range []uint32{1, 3} {
		b := NewBuffer(64)
		v := unit(rand.New(rand.NewPCG(3, 1)), 64)
		for i := range uint32(3 * exactRows) {
			b.Add(i/passages, v)
		}
		p := Part{Set: b.Set(3 * exactRows)}
		q := &sample{}
		p.Encoder.prepare(&q.query, v)
		q.counts = make([]int32, 2*planeMost*p.Encoder.padded+1)
		must.Do(t, p.sample(t.Context().Err, []*sample{q}))
		check.That(t, len(q.near) == 100 && cap(q.nearest.merged) <= 1000 && cap(q.nearest.scores) <= 1000,
			"%d chunks are kept, in memory for %d and %d", len(q.near), cap(q.nearest.merged), cap(q.nearest.scores))
	}
}

// TestReusedQuery checks that a reused query equals a new one.
func TestReusedQuery(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	var again query
	var vectors [3][]float32
	for i, dims := range []int{64, 100, 100} {
		for range dims {
			vectors[i] = append(vectors[i], float32(random.NormFloat64()))
		}
	}
	vectors[1][7] = float32(math.NaN())
	for _, i := range []int{0, 0, 2, 1, 1, 2, 2, 0} {
		v := vectors[i]
		NewEncoder(len(v)).prepare(&again, v)
		var fresh query
		NewEncoder(len(v)).prepare(&fresh, v)
		if i != 1 && (!slices.Equal(again.numbers, fresh.numbers) || !slices.Equal(again.planes, fresh.planes) ||
			!slices.Equal(again.tables, fresh.tables) || again.scale != fresh.scale || again.reach != fresh.reach) {
			t.Fatalf("vector %d is made ready in another way", i)
		}
	}
}
