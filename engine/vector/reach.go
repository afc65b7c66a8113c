package vector

import (
	"context"
	"math"
	"slices"
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
// out what it takes to be one of them.
const seedRows = 2

// chooseSurvivors leaves in w.list the rows to be compared: of the best depth by
// their estimates those that may be among the k nearest and are wanted. all says
// that no other row may. When the caller says how many shall survive, they do.
func (s *Set) chooseSurvivors(ctx context.Context, w *worker, allowed []uint64, depth, k int, o Options) (all bool, err error) {
	threshold := math.Inf(-1)
	if o.Bounded {
		threshold = o.Threshold
	}
	least := int32(math.MinInt32)
	if o.Survivors == 0 {
		least = w.query.reach.least(threshold)
	}
	if err := s.scan(ctx, w, allowed, depth, max(least, math.MinInt32+1)-1); err != nil {
		return false, err
	}
	all = len(w.list) < depth
	if seeds := seedRows * k; o.Survivors == 0 && len(w.list) > 2*seeds {
		w.seeds, _ = w.best(w.seeds[:0], w.list, seeds, s.Encoder.padded)
		w.choose(w.seeds)
		if err := s.compare(w); err != nil {
			return false, err
		}
		w.nearest.close()
		w.nearest.cut()
		if found := w.nearest.found(); len(found) >= k {
			threshold = max(threshold, found[k-1].Score)
		}
		w.nearest.reset(w.nearest.list[:w.nearest.start], k)
		least = w.query.reach.least(threshold)
		before := len(w.list)
		w.list = slices.DeleteFunc(w.list, func(s survivor) bool { return s.estimate < least })
		all = all || len(w.list) < before
	}
	return all, nil
}
