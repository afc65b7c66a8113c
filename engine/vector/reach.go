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

// seedRows is how many rows are compared, for each chunk that is wanted, to find
// out what it takes to be one of them. Twice as many would spare few more, half as
// many left a half more to be compared where vectors share a direction.
const seedRows = 4

// prune drops from c.list the rows that cannot be among the nearest k: the best
// of them by their estimates are compared, so that k similarities are known. It
// returns the similarity that is needed, threshold or more, and the lowest estimate
// that may stand for it. A list that is hardly longer than what would be compared
// stays as it is.
func (s *Set) prune(q *query, c *selection, k int, threshold float64) (float64, int32, error) {
	seeds := seedRows * k
	if len(c.list) <= 2*seeds {
		return threshold, q.reach.least(threshold), nil
	}
	c.seeds, _ = c.best(c.seeds[:0], c.list, seeds, s.Encoder.padded)
	c.choose(c.seeds)
	if err := s.score(q, c); err != nil {
		return threshold, math.MinInt32, err
	}
	best := c.scores[:0] // of each chunk
	for i, score := range c.scores {
		if n := len(best); i > 0 && !s.single() && s.Owner(int(c.index[i])) == s.Owner(int(c.index[i-1])) {
			best[n-1] = max(best[n-1], score)
		} else {
			best = append(best, score)
		}
	}
	if len(best) >= k {
		threshold = max(threshold, largest(best, k))
	}
	least := q.reach.least(threshold)
	n := 0
	for _, row := range c.list { // no branch, which nobody could predict
		c.list[n] = row
		if row.estimate >= least {
			n++
		}
	}
	c.list = c.list[:n]
	return threshold, least, nil
}

// chooseSurvivors leaves in w.list the rows to be compared: of the best depth by
// their estimates those that may be among the k nearest and are wanted. all says
// that no other row may. When the caller says how many shall survive, they do.
func (s *Set) chooseSurvivors(ctx context.Context, w *worker, allowed []uint64, depth, k int, o Options) (all bool, err error) {
	job := scanJob{allowed: allowed, depth: depth, k: k, threshold: math.Inf(-1), prune: o.Survivors == 0}
	if o.Bounded && job.prune {
		job.threshold = o.Threshold
	}
	if err := s.scan(ctx, w, &job); err != nil || !job.prune {
		return len(w.list) < depth, err
	}
	before := len(w.list)
	_, _, err = s.prune(&w.query, &w.selection, k, job.threshold)
	return before < depth || len(w.list) < before, err
}
