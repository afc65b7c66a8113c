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
// similarities of t and more are known, a row whose estimate is some deviations of
// that below t will not be a nearer one, and need not be read.
//
// Of the 10,000 best estimates a question of a few words leaves some hundreds.

// deviations is how many standard deviations an estimate may be too low in a search
// for the nearest k. Of many neighbors those that are lost are nearly always among the
// last, four to eight in a thousand, and half as many rows are read.
func deviations(k int) float64 {
	const many = 20
	if k >= many {
		return 2
	}
	return 3
}

// reach is how estimates of one query and similarities go together.
type reach struct {
	length float64 // of the query
	// An estimate e stands for a similarity of length x (offset + slope e),
	// which is off by deviation x sqrt(1 - similarity^2), and by rounding.
	offset, slope       float64
	deviation, rounding float64
	// deviations is how many of these an estimate may be too low.
	deviations float64
}

// newReach is that of a query whose rotated numbers, divided by largest, are x;
// most is the largest of their magnitudes. How many deviations count is left open.
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
	low := s - r.deviations*math.Hypot(r.deviation*math.Sqrt(1-s*s), r.rounding)
	return int32(max(math.MinInt32, min(math.MaxInt32, math.Ceil((low-r.offset)/r.slope))))
}

// seedRows is how many rows are compared at once, for each chunk that is wanted, to
// find out what it takes to be one of them, and leastSeeds how many at least; each
// further round takes roundGrowth times as many.
const (
	seedRows    = 4
	leastSeeds  = 128
	roundGrowth = 8
)

// compareSurvivors compares the rows that survive a scan: of the best depth by their
// estimates those that may be among the k nearest and are wanted. all says that no
// other row may be. When the caller says how many shall survive, they are all
// compared.
func (s *Set) compareSurvivors(ctx context.Context, w *worker, allowed []uint64, depth, k int, o Options) (all bool,
	err error) {
	job := scanJob{allowed: allowed, depth: depth, k: k, prune: o.Survivors == 0}
	if err := s.scan(ctx, w, job); err != nil {
		return false, err
	}
	if !job.prune {
		w.index = w.index[:0]
		for _, row := range w.list {
			w.index = append(w.index, row.row)
		}
		if err := s.compare(&w.query, &w.scanner, &w.nearest); err != nil {
			return false, err
		}
	}
	all = w.lost == math.MinInt32 || job.prune && w.lost < w.query.reach.least(w.nearest.need())
	return all, s.comparePassages(w)
}
