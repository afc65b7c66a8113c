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
// that below t will not be a nearer one, and need not be looked at more closely.
//
// A finer code says each number up to half a level, so that the similarity is off by
// level/sqrt(12) on average, whatever it is: a third to a quarter of the above. Of
// 200,000 passages a question of a few words leaves some thousands by signs, and some
// hundreds by finer codes.

// reachDeviations is how many standard deviations an estimate may be too low.
const reachDeviations = 3

// reach is how estimates of one query by signs and similarities go together.
type reach struct {
	length float64 // of the query
	// An estimate e stands for a similarity of length x (offset + slope e),
	// which is off by deviation x sqrt(1 - similarity^2), and by rounding.
	offset, slope       float64
	deviation, rounding float64
}

// newReach is that of a query whose rotated numbers, divided by largest, are x;
// most is the largest of their magnitudes, and sum that of the query's numbers in
// bit planes.
func newReach(x []float32, most, largest float64, sum int) reach {
	length, dims := math.Sqrt(squares(x)), float64(len(x))
	unit := 1 / (math.Sqrt(2*dims/math.Pi) * length)
	step := most / planeMost
	return reach{
		length: length * largest,
		// The signs' dot product is the sum of the numbers, less twice that
		// of those under negative signs, which the estimate is, negated, in
		// steps.
		offset: -float64(sum) * step * unit, slope: 2 * step * unit,
		deviation: math.Sqrt((math.Pi/2 - 1) / (dims - 1)),
		rounding:  step * math.Sqrt(dims/12) * unit, // a number in steps is off by step/sqrt(12)
	}
}

func squares(x []float32) float64 {
	var sum float64
	for _, f := range x {
		sum += float64(float64(f) * float64(f))
	}
	return sum
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

// finer is how estimates of one query by finer codes and similarities go together: an
// estimate e, which is four times that by signs, twice that by the first bits and
// that by the second ones, stands for scale x slope (e + offset), and deviation in
// the place of the bracket is by how much it is off. scale is that of the row.
type finer struct{ slope, offset, deviation float64 }

// levels is how many magnitudes of a row are one of its finer code.
const levels = (maxLevel + 1) >> finerBits

// newFiner takes what newReach does. A code of 0..7 stands for 3.5 less it levels.
func newFiner(x []float32, most, largest float64, sum int) finer {
	const (
		middle = 1<<finerBits - 0.5
		// square is about the mean square of numbers in levels: the
		// largest, four levels, is three times the square root of the mean.
		square = (1 << finerBits) * (1 << finerBits) / 9.
	)
	step := most / planeMost
	return finer{
		slope:     levels * largest * step,
		offset:    -middle * float64(sum),
		deviation: math.Sqrt((squares(x)/(step*step) + square*float64(len(x))) / 12),
	}
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
	w.prune(s, k, job.threshold)
	return before < depth || len(w.list) < before, nil
}

// prune drops from c.list the rows that cannot be among the nearest k, and returns
// the similarity that is needed, threshold or more: that of the k-th chunk by its
// best estimate, less the deviation of it, because the best estimates are rather too
// high than too low.
func (c *selection) prune(s *Set, k int, threshold float64) float64 {
	if len(c.list) < k {
		return threshold
	}
	best, owner, single := c.scores[:0], uint32(0), s.single() // of each chunk
	for i, row := range c.list {
		score := float64(row.estimate) - float64(row.most-row.estimate)/reachDeviations
		if !single {
			last := owner
			if owner = s.Owner(int(row.row)); i > 0 && owner == last {
				best[len(best)-1] = max(best[len(best)-1], score)
				continue
			}
		}
		best = append(best, score)
	}
	if c.scores = best; len(best) >= k {
		threshold = max(threshold, largest(best, k))
	}
	n := 0
	for _, row := range c.list { // no branch, which nobody could predict
		c.list[n] = row
		if float64(row.most) >= threshold {
			n++
		}
	}
	c.list = c.list[:n]
	return threshold
}
