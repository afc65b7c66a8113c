package vector

import (
	"context"
	"math"
)

// This file decides which rows can be among the nearest. The estimate of a row comes from its signs, which say how
// similar it roughly is. Let s be the similarity of the row with a query of unit length, in D dimensions. If the
// row's direction is random, the dot product of its signs with the query is about sqrt(2 D/pi) s. Divided by that
// factor, it has a standard deviation of sqrt((pi/2 - 1)(1 - s^2)/(D - 1)). (Gao and Long, RaBitQ, 2024, theorem 3.2;
// the rotation makes directions random.) Suppose that k chunks with similarities of at least t are known. A row whose
// estimate is some deviations below t is not nearer, and need not be read.
//
// A question of a few words needs some hundreds of the 10,000 rows with the best estimates.

// deviations returns how many standard deviations an estimate may be too low in a search for k chunks. With large k the
// number is smaller, so that a search reads half as many rows. Such a search loses four to eight neighbors in a
// thousand, nearly always among the last.
func deviations(k int) float64 {
	const many = 20
	if k >= many {
		return 2
	}
	return 3
}

// estimateReach converts the estimates of one query to similarities, with their errors.
type estimateReach struct {
	length float64 // of the query
	// offset and slope convert an estimate e to a similarity: length * (offset + slope * e). The error has two parts:
	// deviation * sqrt(1 - similarity^2), and rounding.
	offset, slope       float64
	deviation, rounding float64
	// deviations is the number of standard deviations by which an estimate may be too low.
	deviations float64
}

// newReach returns the reach of a query, without its deviations. x has the numbers of the query, divided by largest and
// then rotated. most is the largest absolute number in x.
func newReach(x []float32, most, largest float64) estimateReach {
	var sum, square float64
	for _, f := range x {
		sum += float64(f)
		square += float64(f) * float64(f)
	}
	length, dims := math.Sqrt(square), float64(len(x))
	unit := 1 / (math.Sqrt(2*dims/math.Pi) * length)
	step := most / planeMost
	return estimateReach{
		length: length * largest,
		// The signs' dot product is the sum of all numbers, less twice the sum under negative signs. In steps, the
		// second sum is the negated estimate.
		offset: sum * unit, slope: 2 * step * unit,
		deviation: math.Sqrt((math.Pi/2 - 1) / (dims - 1)),
		// A rounded number has an error of step/sqrt(12), and half of the numbers count twice.
		rounding: step * math.Sqrt(dims/6) * unit,
	}
}

// lowestFor returns the lowest estimate of a row that may have a similarity of t.
func (r *estimateReach) lowestFor(t float64) int32 {
	if r.slope == 0 || math.IsInf(t, -1) {
		return math.MinInt32
	}
	s := max(-1, min(1, t/r.length))
	low := s - r.deviations*math.Hypot(r.deviation*math.Sqrt(1-s*s), r.rounding)
	return int32(max(math.MinInt32, min(math.MaxInt32, math.Ceil((low-r.offset)/r.slope))))
}

// seedRows, leastSeeds and roundGrowth set the rounds of a search. The first round compares seedRows rows for each
// wanted chunk, at least leastSeeds. So it finds a score to beat. Each later round compares roundGrowth times as many
// rows.
const (
	seedRows    = 4
	leastSeeds  = 128
	roundGrowth = 8
)

// compareSurvivors scans all rows and compares the survivors with the query. Only allowed rows survive, at most depth:
// those with the best estimates. If o.Survivors is 0, compareSurvivors skips survivors that cannot be among the k
// nearest. Otherwise it compares all survivors. all reports that no other row can be among the k nearest.
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
	all = w.lost == math.MinInt32 || job.prune && w.lost < w.query.reach.lowestFor(w.nearest.lowestScore())
	return all, s.comparePassages(w)
}
