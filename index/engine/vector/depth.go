package vector

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Depth is how many rows must survive the first step of a search, for 10 and for 100 chunks. Zero means unknown.
type Depth struct{ Ten, Hundred int }

// At returns the depth of a search for k chunks:
//   - up to k = 10: Ten
//   - from 10 to 100: rises from Ten to Hundred, as a power of k
//   - above 100: Hundred times k/100, which is more than a search needs
//
// The result is at least k.
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

// Part is a set of vectors, and the chunks in it that are not deleted. If Live is nil, no chunk is deleted.
type Part struct {
	*Set
	Live []uint64
}

// These are the default numbers of queries for Measure: samples for manyRows rows or more, fewSamples for fewer rows. A
// small segment needs fewer queries. It soon becomes a part of a larger segment, which is then measured.
const (
	samples    = 128
	fewSamples = 32
	manyRows   = 1 << 16
)

// depthShare is the share of the nearest chunks that must survive the first step.
const depthShare = 0.999

// Measure finds the depth for searches of all parts together. It takes sampled vectors as queries and compares each
// with every row. Then it counts how many rows have a better estimate than the nearest rows.
//
// Every second query is moved away from its vector (see Perturb), because real questions differ from stored vectors.
// The sample depends only on the number of rows. If queries is 0, a default number is used. Measure returns the zero
// Depth if the parts have so few rows that a search compares all of them. It calls the function breathe about every
// millisecond, so that the caller can wait or cancel. An error from breathe ends the measurement.
func Measure(breathe func() error, parts []Part, queries int) (Depth, error) {
	total := 0
	for _, p := range parts {
		total += p.Count
	}
	if total <= exactRows {
		return Depth{}, breathe()
	}
	if queries <= 0 {
		queries = samples
		if total < manyRows {
			queries = fewSamples
		}
	}
	rng := rand.New(rand.NewPCG(uint64(total), 0))
	var list []*sample
	for i := range queries {
		var drawn [3][]float32 // a query, and two vectors to move it
		for k := range drawn[:1+i%2*2] {
			var err error
			if drawn[k], err = sampleOf(parts, rng, total); err != nil {
				return Depth{}, err
			}
		}
		v := drawn[0]
		if v == nil {
			continue
		}
		if drawn[1] != nil && drawn[2] != nil {
			Perturb(v, drawn[1], drawn[2])
		}
		q := &sample{}
		parts[0].Encoder.prepare(&q.query, v)
		q.counts = make([]int32, 2*planeMost*parts[0].Encoder.padded+1)
		list = append(list, q)
	}
	for _, p := range parts {
		if err := p.sample(breathe, list); err != nil {
			return Depth{}, err
		}
	}
	var ten, hundred []int
	for _, q := range list {
		needed := q.rowsNeeded()
		ten, hundred = append(ten, needed[:min(len(needed), 10)]...), append(hundred, needed...)
	}
	// The quantile for a hundred comes from more numbers, so it may be lower.
	d := Depth{Ten: quantile(ten), Hundred: quantile(hundred)}
	d.Hundred = max(d.Hundred, d.Ten)
	return d, nil
}

// Perturb adds 1.25 * (to - from) to v, and restores unit length. v must have unit length; from and to are other
// vectors of its set. A moved v is about as far from the old v as a real question is from its passage. Perturb keeps
// what all vectors of a model have in common; a random direction would destroy it.
func Perturb(v, from, to []float32) {
	const share = 1.25
	var square float64
	moved := make([]float64, len(v))
	for i := range v {
		moved[i] = float64(v[i]) + share*(float64(to[i])-float64(from[i]))
		square += float64(moved[i] * moved[i])
	}
	if square == 0 {
		return // moved to zero: v is good enough
	}
	for i, x := range moved {
		v[i] = float32(x / math.Sqrt(square))
	}
}

// sampleOf returns a random vector of parts. It draws several times, and returns nil if all drawn vectors are deleted.
// total is the number of rows in parts.
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

// quantile returns the depth at which the share depthShare of the near rows survive. needed has the depth that each
// near row needs; quantile sorts needed.
func quantile(needed []int) int {
	if len(needed) == 0 {
		return 0
	}
	slices.Sort(needed)
	return needed[min(len(needed)-1, int(math.Ceil(depthShare*float64(len(needed))))-1)]
}

// sample is one query of a depth measurement, with its nearest chunks.
type sample struct {
	query   query
	nearest nearest     // the nearest chunks of the part that is being read
	near    []candidate // the nearest chunks of all parts read before
	counts  []int32     // number of rows by estimate, lowest possible estimate first
}

// candidate is a chunk with the similarity and the estimate of its best passage.
type candidate struct {
	score    float64
	estimate int32
}

// sample compares every row of p that is not deleted with every query in list. It compares one block of rows with all
// queries, then the next block, so that memory is read only once. It calls breathe before each block.
func (p *Part) sample(breathe func() error, list []*sample) error {
	size, words := p.Encoder.RowBytes(), p.Encoder.Words()
	var out [blockRows]int32
	var mask [blockRows / GroupRows]byte
	var scales [blockRows]float64
	var index []uint32
	var codes []uint64
	for _, q := range list {
		q.nearest.reset(p.Set, nil, 100)
		q.nearest.few = true // limits memory when a model gives many texts the same vector
	}
	for at := 0; at < p.Count; at += blockRows {
		if err := breathe(); err != nil {
			return err
		}
		rows := min(blockRows, p.Count-at)
		index = index[:0]
		for row := at; row < at+rows; row++ {
			if p.Live == nil || has(p.Live, p.Owner(row)) {
				scales[len(index)] = p.scale(row)
				index = append(index, uint32(row))
			}
		}
		if err := p.verify(index...); err != nil {
			return err
		}
		for _, q := range list {
			kernels[0].dot(out[:], p.Rows[:p.Count*size], index, p.Codes, q.query.numbers)
			for i, row := range index {
				if score := float64(out[i]) * q.query.scale * scales[i]; !q.nearest.misses(score) {
					q.nearest.passage(int(row), score)
				}
			}
			kernels[0].scan(out[:], mask[:(rows+GroupRows-1)/GroupRows], p.Codes[at/GroupRows*GroupRows*words*8:], &q.query, 0)
			counts, zero := q.counts, len(q.counts)/2
			for _, row := range index {
				counts[int(out[int(row)-at])+zero]++
			}
		}
	}
	for _, q := range list {
		for _, n := range q.nearest.finish() {
			first, _ := p.rows(n.Ordinal, 0)
			codes = Code(codes[:0], p.Codes, first+n.Passage, words)
			q.near = append(q.near, candidate{n.Score, estimate(q.query.planes, codes)})
		}
	}
	return nil
}

// rowsNeeded returns a number of rows for each of the nearest 100 chunks. If a scan keeps at least this number of rows,
// it keeps the best row of the chunk.
func (q *sample) rowsNeeded() []int {
	slices.SortFunc(q.near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.estimate, a.estimate))
	})
	for i := len(q.counts) - 2; i >= 0; i-- { // from here on: rows with this estimate or a better one
		q.counts[i] += q.counts[i+1]
	}
	var out []int
	for _, c := range q.near[:min(len(q.near), 100)] {
		out = append(out, int(q.counts[int(c.estimate)+len(q.counts)/2]))
	}
	return out
}
