package vector_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"sheaf/index/engine/vector"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

var seed = flag.Uint64("vectorseed", rand.Uint64N(1<<32), "seed of the random sets")

// passages returns unit vectors in clusters, as texts have; some passages of a chunk are similar.
func passages(r *rand.Rand, n, dims int) [][]float32 {
	centers := make([][]float32, 1+n/50)
	for i := range centers {
		centers[i] = make([]float32, dims)
		for j := range centers[i] {
			centers[i][j] = float32(r.NormFloat64())
		}
	}
	out := make([][]float32, n)
	for i := range out {
		c := centers[r.IntN(len(centers))]
		v, square := make([]float32, dims), 0.0
		for j := range v {
			v[j] = c[j] + float32(r.NormFloat64())
			square += float64(v[j]) * float64(v[j])
		}
		for j := range v {
			v[j] = float32(float64(v[j]) / math.Sqrt(square))
		}
		out[i] = v
	}
	return out
}

// random is a set and the vectors it was made from. Each chunk has 0 to most passages; some
// passages are equal.
type random struct {
	*vector.Set
	vectors [][]float32
	owners  []uint32
}

func newRandom(r *rand.Rand, n, dims, most int) *random {
	s := &random{vectors: passages(r, n, dims)}
	b := vector.NewBuffer(dims)
	ordinal := uint32(0)
	for i := range s.vectors {
		if most == 1 {
			ordinal = uint32(i)
		} else if i > 0 && r.IntN(most) == 0 {
			ordinal += uint32(1 + r.IntN(most)/2)
		}
		if i > 0 && r.IntN(20) == 0 {
			s.vectors[i] = s.vectors[r.IntN(i)]
		}
		s.owners = append(s.owners, ordinal)
		b.Add(ordinal, s.vectors[i])
	}
	s.Set = b.Set(int(ordinal) + 1)
	return s
}

func dot(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// bruteForce returns the expected result by the float32 vectors: each chunk with its best passage,
// best first.
func (s *random) bruteForce(q []float32, allowed []uint64) []vector.Neighbor {
	var out []vector.Neighbor
	index := 0
	for i, v := range s.vectors {
		if index++; i == 0 || s.owners[i] != s.owners[i-1] {
			index = 0
		}
		if allowed != nil && allowed[s.owners[i]/64]>>(s.owners[i]%64)&1 == 0 {
			continue
		}
		score := dot(q, v)
		if last := len(out) - 1; last >= 0 && out[last].Ordinal == s.owners[i] {
			if score > out[last].Score {
				out[last].Score, out[last].Passage = score, index
			}
			continue
		}
		out = append(out, vector.Neighbor{Ordinal: s.owners[i], Passage: index, Score: score})
	}
	slices.SortFunc(out, func(a, b vector.Neighbor) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	return out
}

func filter(r *rand.Rand, chunks, of int) []uint64 {
	allowed := make([]uint64, (chunks+63)/64)
	for i := range chunks {
		if r.IntN(of) == 0 {
			allowed[i/64] |= 1 << (i % 64)
		}
	}
	return allowed
}

// TestSearch compares a search that reads each row with brute force, over random sets, filters and
// limits. They agree up to the loss of nine bits.
func TestSearch(t *testing.T) {
	const lost = 0.01
	for n := range uint64(60) {
		r := rand.New(rand.NewPCG(*seed+n, 1))
		s := newRandom(r, 1+r.IntN(2000), 1+r.IntN(300), 1+r.IntN(4))
		q := passages(r, 1, s.Encoder.Dims())[0]
		var allowed []uint64
		if r.IntN(3) > 0 {
			allowed = filter(r, s.Chunks, 1+r.IntN(40))
		}
		k := 1 + r.IntN(60)
		want := s.bruteForce(q, allowed)
		got := must.Get(s.Search(t.Context(), nil, q, allowed, k, vector.Options{Exact: true}))
		must.That(t, len(got) >= min(k, len(want)) && len(got) <= len(want), "seed %d: %d found, want %d of %d", *seed+n,
			len(got), k, len(want))
		exact := map[uint32]vector.Neighbor{}
		for _, w := range want {
			exact[w.Ordinal] = w
		}
		for i, g := range got {
			w, ok := exact[g.Ordinal]
			delete(exact, g.Ordinal)
			must.That(t, ok && math.Abs(g.Score-w.Score) <= lost && math.Abs(g.Score-want[i].Score) <= lost,
				"seed %d: place %d is %+v, exactly %+v; want about %+v", *seed+n, i, g, w, want[i])
			if i > 0 && (got[i-1].Score < g.Score || got[i-1].Score == g.Score && got[i-1].Ordinal > g.Ordinal) {
				t.Fatalf("seed %d: %+v stands before %+v", *seed+n, got[i-1], g)
			}
			if i >= k && g.Score != got[k-1].Score {
				t.Fatalf("seed %d: %+v comes after place %d and does not score the same", *seed+n, g, k)
			}
		}
	}
}

// TestTwoSteps compares a two-step search with a comparison of each row, for any filter and number
// of cores. It finds almost the same chunks, with the same scores and passages.
func TestTwoSteps(t *testing.T) {
	for n := range uint64(4) {
		r := rand.New(rand.NewPCG(*seed+n, 2))
		s := newRandom(r, 18000+r.IntN(12000), 33+r.IntN(100), 1+int(n%3))
		depth, err := vector.Measure(t.Context().Err, []vector.Part{{Set: s.Set}}, 24)
		must.That(t, err == nil && depth.Ten >= 10 && depth.Hundred >= depth.Ten, "depth %v, %v", depth, err)
		s.Depth = depth
		missing, wanted := 0, 0
		for i := range 20 {
			q := slices.Clone(s.vectors[r.IntN(len(s.vectors))])
			vector.Perturb(q, s.vectors[r.IntN(len(s.vectors))], s.vectors[r.IntN(len(s.vectors))])
			var allowed []uint64
			if i%2 == 1 {
				allowed = filter(r, s.Chunks, []int{2, 3, 10, 200}[i/2%4])
			}
			k := []int{10, 100, 1, 30}[i%4]
			want := must.Get(s.Search(t.Context(), nil, q, allowed, k, vector.Options{Exact: true}))
			got := must.Get(s.Search(t.Context(), nil, q, allowed, k, vector.Options{}))
			before := runtime.GOMAXPROCS(1)
			one, err := s.Search(t.Context(), nil, q, allowed, k, vector.Options{})
			runtime.GOMAXPROCS(before)
			must.That(t, err == nil && slices.Equal(one, got), "seed %d: one core finds %v, several %v, %v", *seed+n, one, got,
				err)
			found := map[uint32]vector.Neighbor{}
			for _, g := range got {
				found[g.Ordinal] = g
			}
			// A search may skip chunks below the threshold, but none above it.
			least := want[len(want)/2].Score
			near, err := s.Search(t.Context(), nil, q, allowed, k, vector.Options{Threshold: least, Bounded: true})
			must.Do(t, err)
			for _, g := range got {
				if wanted++; g.Score >= least && !slices.Contains(near, g) {
					missing++
				}
			}
			for _, w := range want {
				wanted++
				if g, ok := found[w.Ordinal]; !ok {
					missing++
				} else if g != w {
					t.Fatalf("seed %d: %+v and, with every row compared, %+v", *seed+n, g, w)
				}
			}
		}
		check.That(t, float64(missing) <= 0.03*float64(wanted), "seed %d: %d of %d missing at depth %v", *seed+n, missing,
			wanted, depth)
		t.Logf("%d rows of %d dimensions: depth %v, %d of %d missing", s.Count, s.Encoder.Dims(), depth, missing, wanted)
	}
}

// TestRowsAtEqualDistance checks filtered or near rows at equal distances or side by side. A search finds them
// like others and compares no more rows than the depth.
func TestRowsAtEqualDistance(t *testing.T) {
	must.Whole(t, "many searches in one goroutine")
	const rows, dims, k = 40000, 128, 10
	r := rand.New(rand.NewPCG(*seed, 8))
	queries := make([][]float32, 30)
	center := mixed(r, nil, 0, dims)
	for i := range queries {
		queries[i] = mixed(r, center, 0.8, dims)
	}
	step := func(n, from int) func(int) bool { return func(i int) bool { return i%n == from } }
	all, none := func(int) bool { return true }, func(int) bool { return false }
	for i, c := range []struct {
		name          string
		near, allowed func(i int) bool // by row and chunk
		passages      int              // per chunk
	}{
		{"odd chunks allowed", none, step(2, 1), 1},
		{"even chunks allowed", none, step(2, 0), 1},
		{"every 16th chunk allowed", none, step(16, 0), 1},
		{"every 16th chunk allowed, three passages each", none, step(16, 5), 3},
		{"every 32nd chunk allowed", none, step(32, 0), 1},
		{"every 37th chunk allowed", none, step(37, 0), 1},
		{"one run of chunks allowed", none, func(i int) bool { return i/4096 == 3 }, 1},
		{"every 16th row near", step(16, 0), all, 1},
		{"every 16th row near, three passages each", step(16, 3), all, 3},
		{"every 32nd row near", step(32, 0), all, 1},
		{"every 32nd row near and allowed", step(32, 7), step(32, 7), 1},
		{"runs of rows near", func(i int) bool { return i/64%16 == 0 }, all, 1},
	} {
		if testing.Short() && i%4 > 0 {
			continue
		}
		b := vector.NewBuffer(dims)
		allowed := make([]uint64, (rows+63)/64)
		for i := range rows {
			var near []float32
			if c.near(i) {
				near = center
			}
			b.Add(uint32(i/c.passages), mixed(r, near, 0.5, dims))
			if c.allowed(i / c.passages) {
				allowed[i/c.passages/64] |= 1 << (i / c.passages % 64)
			}
		}
		s := b.Set((rows-1)/c.passages + 1)
		s.Depth = vector.Depth{Ten: 500, Hundred: 1000}
		found, compared, most := 0, 0, 0
		for _, q := range queries {
			want := must.Get(s.Search(t.Context(), nil, q, allowed, k, vector.Options{Exact: true}))
			n := 0
			s.Verify = func(list []uint32) error { n += len(list); return nil }
			got, err := s.Search(t.Context(), nil, q, allowed, k, vector.Options{})
			s.Verify = nil
			must.Do(t, err)
			for _, w := range want[:k] {
				if slices.Contains(got, w) {
					found++
				}
			}
			compared, most = compared+n, max(most, n)
		}
		recall := float64(found) / float64(k*len(queries))
		t.Logf("%s: recall %.3f, %d rows are compared, at most %d", c.name, recall, compared/len(queries), most)
		check.That(t, recall >= 0.96 && most <= max(4*s.Depth.Ten, 2*s.Depth.Ten+rows/40)+2*c.passages*k,
			"seed %d, %s: recall %.3f, up to %d rows are compared", *seed, c.name, recall, most)
	}
}

// mixed returns a unit vector: a share of near plus a random direction.
func mixed(r *rand.Rand, near []float32, share float64, dims int) []float32 {
	v, square := make([]float32, dims), 0.0
	for j := range v {
		v[j] = float32(r.NormFloat64())
		if near != nil {
			v[j] = float32(share*math.Sqrt(float64(dims))*float64(near[j]) + math.Sqrt(1-share*share)*float64(v[j]))
		}
		square += float64(v[j]) * float64(v[j])
	}
	for j := range v {
		v[j] = float32(float64(v[j]) / math.Sqrt(square))
	}
	return v
}

// TestSurvivors checks that no hit is missing if all rows survive.
func TestSurvivors(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 3))
	s := newRandom(r, 5000, 100, 3)
	q := passages(r, 1, 100)[0]
	want := must.Get(s.Search(t.Context(), nil, q, nil, 50, vector.Options{Exact: true}))
	last := -1
	for _, n := range []int{50, 200, 1000, 4999, 5000, 1 << 30} {
		got, err := s.Search(t.Context(), nil, q, nil, 50, vector.Options{Survivors: n})
		must.That(t, err == nil && len(got) >= 50, "%d found, %v", len(got), err)
		same := 0
		for _, w := range want {
			if slices.Contains(got, w) {
				same++
			}
		}
		if same < last || n >= 4999 && same < len(want) {
			t.Errorf("%d survivors: %d of %d are found, fewer survivors found %d", n, same, len(want), last)
		}
		last = same
	}
}

// TestCancel checks that canceling ends a search and a measurement.
func TestCancel(t *testing.T) {
	s := newRandom(rand.New(rand.NewPCG(*seed, 4)), 40000, 64, 1)
	s.Depth = vector.Depth{Ten: 100, Hundred: 1000}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, o := range []vector.Options{{}, {Exact: true}} {
		got, err := s.Search(ctx, nil, s.vectors[0], nil, 10, o)
		check.That(t, errors.Is(err, context.Canceled) && len(got) == 0, "%+v: %d found, %v", o, len(got), err)
	}
	check.Is(t, must.Err(vector.Measure(ctx.Err, []vector.Part{{Set: s.Set}}, 5)), context.Canceled,
		"a measurement that is canceled")
}

// TestVerify checks that rows are verified before use, and only the used rows.
func TestVerify(t *testing.T) {
	s := newRandom(rand.New(rand.NewPCG(*seed, 5)), 40000, 64, 1)
	s.Depth = vector.Depth{Ten: 100, Hundred: 1000}
	read := 0
	s.Verify = func(rows []uint32) error { read += len(rows); return nil }
	if _, err := s.Search(t.Context(), nil, s.vectors[0], nil, 10, vector.Options{Survivors: 100}); err != nil ||
		read != 100 {
		t.Errorf("%d rows were read, want 100: %v", read, err)
	}
	read = 0
	if _, err := s.Search(t.Context(), nil, s.vectors[0], nil, 1, vector.Options{}); err != nil || read < 1 || read > 400 {
		t.Errorf("%d rows of 40000 were read to find the query itself, want about as many as are compared first: %v", read,
			err)
	}
	broken := errors.New("broken")
	s.Verify = func([]uint32) error { return broken }
	dst := []vector.Neighbor{{Ordinal: 7}}
	for _, o := range []vector.Options{{}, {Exact: true}} {
		got, err := s.Search(t.Context(), dst, s.vectors[0], nil, 10, o)
		check.That(t, errors.Is(err, broken) && slices.Equal(got, dst), "%+v: %v, %v", o, got, err)
	}
	check.Is(t, must.Err(vector.Measure(t.Context().Err, []vector.Part{{Set: s.Set}}, 5)), broken,
		"a measurement of a broken set")
}

// TestMeasureParts checks that measuring parts gives the same as measuring one set, without deleted chunks.
func TestMeasureParts(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 6))
	all := passages(r, 30000, 64)
	whole, left, right := vector.NewBuffer(64), vector.NewBuffer(64), vector.NewBuffer(64)
	live := make([]uint64, 20000/64+1)
	for i, v := range all {
		whole.Add(uint32(i), v)
		if i < 10000 {
			left.Add(uint32(i), v)
			continue
		}
		right.Add(uint32(i-10000), v)
		live[(i-10000)/64] |= 1 << (i % 64 & 63)
	}
	for i := range live {
		live[i] = math.MaxUint64
	}
	want := must.Get(vector.Measure(t.Context().Err, []vector.Part{{Set: whole.Set(30000)}}, 8))
	got, err := vector.Measure(t.Context().Err, []vector.Part{{Set: left.Set(10000)}, {Set: right.Set(20000), Live: live}},
		8)
	check.That(t, err == nil && got == want, "parts need %v, the whole %v, %v", got, want, err)
	if d, err := vector.Measure(t.Context().Err,
		[]vector.Part{{Set: left.Kept(func(i uint32) (uint32, bool) { return i, i < 4000 }).Set(10000)}},
		8); d != (vector.Depth{}) || err != nil {
		t.Errorf("a small set needs %v, %v", d, err)
	}
	clear(live)
	if d, err := vector.Measure(t.Context().Err, []vector.Part{{Set: right.Set(20000), Live: live}},
		8); d != (vector.Depth{}) || err != nil {
		t.Errorf("a set of which all is gone needs %v, %v", d, err)
	}
}

// TestNoAllocations checks that a search allocates nothing after earlier searches.
func TestNoAllocations(t *testing.T) {
	s := newRandom(rand.New(rand.NewPCG(*seed, 7)), 40000, 64, 2)
	s.Depth = vector.Depth{Ten: 200, Hundred: 1000}
	dst := make([]vector.Neighbor, 0, 1000)
	for _, o := range []vector.Options{{}, {Exact: true}} {
		fewest := math.Inf(1) // the race detector empties pools at random
		for range 20 {
			fewest = min(fewest, testing.AllocsPerRun(1, func() {
				must.Do(t, must.Err(s.Search(t.Context(), dst, s.vectors[5], nil, 10, o)))
			}))
		}
		check.That(t, fewest <= 0, "%+v: %v allocations", o, fewest)
	}
}

// TestDepthAt checks that depths rise with k, equal the measured values, and are at least k.
func TestDepthAt(t *testing.T) {
	d := vector.Depth{Ten: 200, Hundred: 1700}
	check.That(t, d.At(1) == 200 && d.At(10) == 200 && d.At(100) == 1700 && d.At(1000) == 17000 &&
		(vector.Depth{}).At(50) >= 50, "%d %d %d %d", d.At(1), d.At(10), d.At(100), d.At(1000))
	for k := 1; k < 2000; k++ {
		must.That(t, d.At(k) >= d.At(max(1, k-1)) && d.At(k) >= k, "depth for %d is %d", k, d.At(k))
	}
}
