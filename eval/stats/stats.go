// Package stats compares rankings by pure functions: bootstrap intervals, paired tests, corrections, and quantiles.
//
// Every random function takes a seed and gives the same result for the same input on every machine.
package stats

import (
	"math/rand/v2"
	"slices"
)

// Mean returns the arithmetic mean of x, or 0 when x is empty.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Quantile returns the value that is larger than the share q, 0..1, of the values in x. It interpolates linearly
// between the two nearest values (definition 7 of Hyndman and Fan: Sample Quantiles in Statistical Packages, 1996). x
// need not be sorted, and Quantile does not change x. For an empty x it returns 0.
func Quantile(x []float64, q float64) float64 {
	return quantile(slices.Sorted(slices.Values(x)), q)
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := min(max(int(at), 0), len(sorted)-1)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Interval is a confidence interval: the range from Low to High.
type Interval struct {
	Low  float64 `json:"low"`  // the lower end
	High float64 `json:"high"` // the upper end
}

// Contains reports whether v is in the interval.
func (i Interval) Contains(v float64) bool { return i.Low <= v && v <= i.High }

// rounds is the number of rounds of bootstraps and randomization tests.
const rounds = 10_000

// Bootstrap returns the interval that contains the mean of x with a probability of 95 %, by the percentile bootstrap
// (Efron, Tibshirani: An Introduction to the Bootstrap, 1993, chapter 13). Bootstrap draws len(x) values with
// replacement, and computes their mean. It repeats this ten thousand times. The interval is the middle part of these
// means. If values are paired, pass their differences.
func Bootstrap(x []float64, seed uint64) Interval {
	return BootstrapWithin(x, make([]string, len(x)), seed)
}

// BootstrapWithin is [Bootstrap] for values in groups. groups[i] is the group of x[i]. It draws from each group as
// many values as the group has, so that groups keep their weights.
func BootstrapWithin(x []float64, groups []string, seed uint64) Interval {
	if len(x) == 0 {
		return Interval{}
	}
	members := map[string][]float64{}
	for i, v := range x {
		members[groups[i]] = append(members[groups[i]], v)
	}
	drawn := make([][]float64, len(x)) // the values that each value is drawn from
	for i := range x {
		drawn[i] = members[groups[i]]
	}
	r := newRandom(seed)
	means := make([]float64, rounds)
	for i := range means {
		var sum float64
		for _, of := range drawn {
			sum += of[r.IntN(len(of))]
		}
		means[i] = sum / float64(len(x))
	}
	slices.Sort(means)
	return Interval{quantile(means, 0.025), quantile(means, 0.975)}
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eaf)) }

// Differences returns a[i] - b[i] for each i. It panics if a and b have different lengths.
func Differences(a, b []float64) []float64 {
	if len(a) != len(b) {
		panic("stats: paired values have different lengths")
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}
