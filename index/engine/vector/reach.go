package vector

import (
	"context"
	"math"
)

// Which rows can be among the nearest? The estimate of a row comes from its signs, which carry a
// known part of its similarity s with the query. For a vector in a random direction of D
// dimensions, the dot product of its signs with a query of unit length is about sqrt(2 D/pi) s.
// Divided by that factor, its standard deviation is sqrt((pi/2 - 1)(1 - s^2)/(D - 1)) (Gao and
// Long, RaBitQ, 2024, theorem 3.2; the rotation makes directions random). So once k chunks with
// similarities of at least t are known, a row whose estimate is some deviations below t is not
// nearer, and need not be read.
//
// Of the 10,000 best estimates a question of a few words needs some hundreds.

// deviations returns a number of standard deviations: a search for the nearest k chunks allows that an estimate is too
// low by this much. With many neighbors the number is smaller, so that a search reads half as many rows. It then loses
// four to eight neighbors in a thousand, nearly always the last ones.
func deviations(k int) float64 {
	const many = 20
	if k >= many {
		return 2
	}
	return 3
}

// reach relates the estimates of one query to similarities.
type reach struct {
	length float64 // of the query
	// An estimate e means a similarity of length x (offset + slope e). Its error has two parts: deviation x sqrt(1 -
	// similarity^2), and rounding.
	offset, slope       float64
	deviation, rounding float64
	// deviations is the number of standard deviations by which an estimate may be too low.
	deviations float64
}

// newReach returns the reach of a query. x has the query's rotated numbers, each divided by largest. The parameter most
// is the largest magnitude in x. newReach does not set deviations.
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
		// The signs' dot product is the sum of the numbers, less twice the sum of those under
		// negative signs, which is the negated estimate in steps.
		offset: sum * unit, slope: 2 * step * unit,
		deviation: math.Sqrt((math.Pi/2 - 1) / (dims - 1)),
		// A number in steps has an error of step/sqrt(12), and half of them count twice.
		rounding: step * math.Sqrt(dims/6) * unit,
	}
}

// lowestFor returns the lowest estimate of a row that may have a similarity of t.
func (r *reach) lowestFor(t float64) int32 {
	if r.slope == 0 || math.IsInf(t, -1) {
		return math.MinInt32
	}
	s := max(-1, min(1, t/r.length))
	low := s - r.deviations*math.Hypot(r.deviation*math.Sqrt(1-s*s), r.rounding)
	return int32(max(math.MinInt32, min(math.MaxInt32, math.Ceil((low-r.offset)/r.slope))))
}

// The first round compares seedRows rows for each wanted chunk, and at least leastSeeds rows, to find the score that a
// chunk needs. Each later round compares roundGrowth times as many rows.
const (
	seedRows    = 4
	leastSeeds  = 128
	roundGrowth = 8
)

// compareSurvivors compares the survivors of a scan with the query. It takes the allowed rows with the best estimates,
// at most depth of them, and skips rows that cannot be among the k nearest. If the caller has set the number of
// survivors, it compares all of them. The result all reports that no other row can be among the k nearest.
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
	all = w.lost == math.MinInt32 || job.prune && w.lost < w.query.reach.lowestFor(w.nearest.need())
	return all, s.comparePassages(w)
}
