package vector

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Depth is how many rows must survive the first step of a search for the nearest
// 10 and the nearest 100 chunks. The zero Depth is unknown.
type Depth struct{ Ten, Hundred int }

// At is the depth for the nearest k chunks: what was measured for 10 when fewer
// are wanted, between 10 and 100 the power of k that meets both, and above 100 in
// proportion, which is more than it takes.
func (d Depth) At(k int) int {
	switch {
	case k <= 10:
		return max(d.Ten, k)
	case k >= 100:
		return max(k, int(min(int64(d.Hundred)*int64(k)/100, math.MaxInt32)))
	}
	ten, hundred := float64(max(d.Ten, 10)), float64(max(d.Hundred, 100))
	return max(k, int(ten*math.Pow(hundred/ten, math.Log10(float64(k)/10))))
}

// Part is a set, without the chunks that are not in Live (nil leaves all).
type Part struct {
	*Set
	Live []uint64
}

// Samples is how many queries Measure takes by default.
const Samples = 128

// depthShare is the share of the nearest chunks that must survive.
const depthShare = 0.999

// Measure finds the depth that a search of all parts, seen as one set, needs: for
// sampled vectors of theirs it compares every row, and looks how many rows have a
// better estimate than the nearest ones. Every second query is moved away from the
// vector it was drawn from, because questions are not among the answers. The
// sample depends on the number of rows alone. The zero Depth means that the parts
// have too few rows for it to matter.
func Measure(ctx context.Context, parts []Part, samples int) (Depth, error) {
	total := 0
	for _, p := range parts {
		total += p.Count
	}
	if total <= exactRows {
		return Depth{}, ctx.Err()
	}
	m := measurement{parts: parts}
	rng := rand.New(rand.NewPCG(uint64(total), 0))
	for i := range samples {
		v, err := sampleOf(parts, rng, total)
		if err != nil {
			return Depth{}, err
		}
		if v == nil {
			continue
		}
		if i%2 == 1 {
			Perturb(v, rng)
		}
		if err := m.query(ctx, v); err != nil {
			return Depth{}, err
		}
	}
	return Depth{Ten: quantile(m.ten), Hundred: quantile(m.hundred)}, nil
}

// Perturb moves v, of unit length, in a random direction by its length, and makes
// it unit length again: then its similarity with what it was is about 0.7, as that
// of a few words with the passage they are from.
func Perturb(v []float32, rng *rand.Rand) {
	var square float64
	for i := range v {
		x := float64(v[i]) + rng.NormFloat64()/math.Sqrt(float64(len(v)))
		v[i] = float32(x)
		square += x * x
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(square))
	}
}

// sampleOf is a random live vector of parts, which have total rows; nil when the
// draws only meet rows that are not live.
func sampleOf(parts []Part, rng *rand.Rand, total int) ([]float32, error) {
	for range 20 {
		at := rng.IntN(total)
		for _, p := range parts {
			if at >= p.Count {
				at -= p.Count
				continue
			}
			if p.Live == nil || has(p.Live, p.Owner(at)) {
				v := make([]float32, p.Encoder.dims)
				return v, p.At(v, at)
			}
			break
		}
	}
	return nil, nil
}

// quantile is the depth at which depthShare of the needed rows survive.
func quantile(needed []int) int {
	if len(needed) == 0 {
		return 0
	}
	slices.Sort(needed)
	return needed[min(len(needed)-1, int(math.Ceil(depthShare*float64(len(needed))))-1)]
}

// measurement gathers how many rows have to survive for each of the nearest chunks
// of each query.
type measurement struct {
	parts        []Part
	worker       worker
	counts       []int32 // rows by estimate
	ten, hundred []int
}

func (m *measurement) query(ctx context.Context, v []float32) error {
	e := m.parts[0].Encoder
	e.prepare(&m.worker.query, v)
	most := planeMost * e.padded // estimates lie within -most and most
	m.counts = resize(m.counts, 2*most+1)
	clear(m.counts)
	type candidate struct {
		score    float64
		estimate int32
	}
	var near []candidate
	for _, p := range m.parts {
		w := &m.worker
		w.nearest.reset(nil, 100)
		if err := p.compareAllowed(ctx, w, p.Live); err != nil {
			return err
		}
		for _, n := range w.nearest.finish() {
			first, _ := p.rows(n.Ordinal, 0)
			code := Code(nil, p.Codes, first+n.Passage, e.Words())
			near = append(near, candidate{n.Score, estimate(w.query.planes, code)})
		}
		p.countEstimates(w.query.planes, m.counts, most)
	}
	slices.SortFunc(near, func(a, b candidate) int {
		if a.score > b.score {
			return -1
		}
		if a.score < b.score {
			return 1
		}
		return int(b.estimate - a.estimate)
	})
	for i := len(m.counts) - 2; i >= 0; i-- { // now: rows with this estimate or a better one
		m.counts[i] += m.counts[i+1]
	}
	for i, c := range near[:min(len(near), 100)] {
		needed := int(m.counts[int(c.estimate)+most])
		if i < 10 {
			m.ten = append(m.ten, needed)
		}
		m.hundred = append(m.hundred, needed)
	}
	return nil
}

// countEstimates adds the live rows to counts, by estimate.
func (p *Part) countEstimates(planes []uint64, counts []int32, most int) {
	var out [blockRows]int32
	var mask [blockRows / GroupRows]byte
	size := GroupRows * p.Encoder.Words() * 8
	for at := 0; at < p.Count; at += blockRows {
		rows := min(blockRows, p.Count-at)
		kernels[0].scan(out[:], mask[:(rows+GroupRows-1)/GroupRows], p.Codes[at/GroupRows*size:], planes, 0)
		for i, estimate := range out[:rows] {
			if p.Live == nil || has(p.Live, p.Owner(at+i)) {
				counts[int(estimate)+most]++
			}
		}
	}
}
