package calibrate

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Isotonic is a map from scores to probabilities that never falls: linear
// between its knots, flat outside them. The zero Isotonic says 0 of everything.
type Isotonic struct {
	// X are scores, rising; Y the probabilities there, never falling, 0..1.
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

// FitIsotonic is the never falling map with the least squared error (pool
// adjacent violators: Ayer et al., An Empirical Distribution Function for
// Sampling with Incomplete Information, 1955; for probabilities: Zadrozny,
// Elkan, 2002). Samples of equal score are one, of their mean. Scores that are
// not finite are left out. With few samples it believes too much: below some
// hundred, use [FitPlatt].
//
// Example: scores 1, 2, 3, 4 with truths 0, 1, 0, 1 give 0 at 1, 0.5 from 2 to
// 3, and 1 at 4.
func FitIsotonic(score []float64, right []bool) Isotonic {
	type block struct {
		from, to    float64 // scores
		sum, weight float64
	}
	order := make([]int, 0, len(score))
	for i, s := range score {
		if !math.IsNaN(s) && !math.IsInf(s, 0) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[a], score[b]) })
	var blocks []block
	for _, i := range order {
		if last := len(blocks) - 1; last >= 0 && blocks[last].from == score[i] && blocks[last].to == score[i] {
			blocks[last].sum += truth(right[i])
			blocks[last].weight++
			continue
		}
		blocks = append(blocks, block{score[i], score[i], truth(right[i]), 1})
	}
	var pooled []block
	for _, b := range blocks {
		pooled = append(pooled, b)
		for n := len(pooled); n > 1 && pooled[n-2].sum*pooled[n-1].weight >= pooled[n-1].sum*pooled[n-2].weight; n = len(pooled) {
			pooled[n-2].to = pooled[n-1].to
			pooled[n-2].sum += pooled[n-1].sum
			pooled[n-2].weight += pooled[n-1].weight
			pooled = pooled[:n-1]
		}
	}
	var f Isotonic
	for _, b := range pooled {
		f.X, f.Y = append(f.X, b.from), append(f.Y, b.sum/b.weight)
		if b.to > b.from {
			f.X, f.Y = append(f.X, b.to), append(f.Y, b.sum/b.weight)
		}
	}
	return f
}

// At is the probability at a score; that of NaN is the lowest.
func (f Isotonic) At(score float64) float64 {
	n := min(len(f.X), len(f.Y))
	if n == 0 {
		return 0
	}
	i := sort.SearchFloat64s(f.X[:n], score)
	switch {
	case math.IsNaN(score) || i == 0:
		return unit(f.Y[0])
	case i == n:
		return unit(f.Y[n-1])
	}
	share := (score - f.X[i-1]) / (f.X[i] - f.X[i-1])
	return unit(f.Y[i-1] + share*(f.Y[i]-f.Y[i-1]))
}
