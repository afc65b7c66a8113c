package vector

import (
	"context"
	"math"
)

// Which rows can be among the nearest? An estimate is what the signs of a row say
// of its similarity s with the query, and signs say a known part of it: for a
// vector in a random direction of D dimensions, the dot product of its signs with a
// query of unit length is about sqrt(2 D/pi) s, and divided by that factor it is
// off by sqrt((pi/2 - 1)(1 - s^2)/(D - 1)) on average (Gao and Long, RaBitQ, 2024,
// theorem 3.2; the rotation makes directions random). So once k chunks with
// similarities of t and more are known, a row whose estimate is reachDeviations of
// that below t will not be a nearer one, and need not be read.
//
// Of the 10,000 best estimates a question of a few words leaves some hundreds.

// reachDeviations is how many standard deviations an estimate may be too low.
const reachDeviations = 3

// reach is how estimates of one query and similarities go together.
type reach struct {
	length float64 // of the query
	// An estimate e stands for a similarity of length x (offset + slope e),
	// which is off by deviation x sqrt(1 - similarity^2), and by rounding.
	offset, slope       float64
	deviation, rounding float64
}

// newReach is that of a query whose rotated numbers, divided by largest, are x;
// most is the largest of their magnitudes.
func newReach(x []float32, most, largest float64) reach {
	var sum, square float64
	for _, f := range x {
		sum += float64(f)
		square += float64(f) * float64(f)
	}
	length, dims := math.Sqrt(square), float64(len(x))
	unit := 1 / (math.Sqrt(2*dims/math.Pi) * length)
	step := most / planeMost
	return reach{
		length: length * largest,
		// The signs' dot product is the sum of the numbers, less twice that
		// of those under negative signs, which the estimate is, negated, in
		// steps.
		offset: sum * unit, slope: 2 * step * unit,
		deviation: math.Sqrt((math.Pi/2 - 1) / (dims - 1)),
		// A number in steps is off by step/sqrt(12), and half of them count
		// twice.
		rounding: step * math.Sqrt(dims/6) * unit,
	}
}

// least is the lowest estimate from which a row may have a similarity of t.
func (r *reach) least(t float64) int32 {
	if r.slope == 0 || math.IsInf(t, -1) {
		return math.MinInt32
	}
	s := max(-1, min(1, t/r.length))
	low := s - reachDeviations*math.Hypot(r.deviation*math.Sqrt(1-s*s), r.rounding)
	return int32(max(math.MinInt32, min(math.MaxInt32, math.Ceil((low-r.offset)/r.slope))))
}

// seedRows is how many rows are compared at once, for each chunk that is wanted, to
// find out what it takes to be one of them; each further round takes roundGrowth
// times as many.
const (
	seedRows    = 4
	roundGrowth = 4
)

// sampled is how many of the rows with the best estimates are counted at least to
// tell the worst of them.
const sampled = 100

// compareBest compares about n rows of c.list, those with the best estimates, or all
// of them. It drops them from the list, and what cannot be among the nearest any more,
// and returns the lowest estimate of a row that can be.
func (s *Set) compareBest(q *query, c *selection, n int) (least int32, err error) {
	edge := int32(math.MinInt32)
	if n < len(c.list) {
		edge, _ = c.edge(c.list, n, max(1, min(n/sampled, 8)), s.Encoder.padded)
	}
	c.index = resize(c.index, len(c.list)+1)
	list, index := c.list, c.index
	best, rest := 0, 0
	for i, row := range list { // no branch, which nobody could predict
		list[rest], index[best] = row, row.row
		if row.estimate >= edge {
			best++
		}
		rest = i + 1 - best
	}
	list, c.index = list[:rest], index[:best]
	if err := s.compare(q, c); err != nil {
		return 0, err
	}
	c.nearest.cut()
	least = q.reach.least(c.nearest.need())
	if least > edge { // all that is left is below
		c.list = list[:0]
		return least, nil
	}
	n = 0
	for _, row := range list {
		list[n] = row
		if row.estimate >= least {
			n++
		}
	}
	c.list = list[:n]
	return least, nil
}

// compareSurvivors compares the rows that survive a scan: of the best depth by their
// estimates those that may be among the k nearest and are wanted, the best first,
// so that the others are compared with what is known by then. all says that no
// other row may be. When the caller says how many shall survive, they are all
// compared.
func (s *Set) compareSurvivors(ctx context.Context, w *worker, allowed []uint64, depth, k int, o Options) (all bool, err error) {
	job := scanJob{allowed: allowed, depth: depth, k: k, prune: o.Survivors == 0}
	if err := s.scan(ctx, w, &job); err != nil {
		return false, err
	}
	least := int32(math.MinInt32)
	for n := seedRows * k; len(w.list) > 0; n *= roundGrowth {
		if !job.prune || 2*n > len(w.list) {
			n = len(w.list)
		}
		if least, err = s.compareBest(&w.query, &w.selection, n); err != nil {
			return false, err
		}
	}
	return w.lost == math.MinInt32 || job.prune && w.lost < least, s.comparePassages(w)
}
