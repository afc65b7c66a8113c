// Package calibrate turns scores and features into probabilities that an answer is right. It also measures the error of
// probabilities. Its functions are pure functions of numbers.
//
// [FitLogistic] fits a small map that can be stored as JSON. [Folds] divides samples into groups. So each sample can
// get its probability from a fit to the other groups. [Reliability] and [Error] measure the distance to the truth.
package calibrate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Bin is a group of samples whose probabilities are similar.
type Bin struct {
	From  float64 `json:"from"`  // the smallest probability of the bin
	To    float64 `json:"to"`    // the end of the bin; only the last bin contains it
	Count int     `json:"count"` // how many samples it has
	Mean  float64 `json:"mean"`  // the mean of their probabilities; 0 without samples
	Right float64 `json:"right"` // the share of samples that are right; 0 without samples
}

// Reliability sorts samples into bins by their probability. The bins have equal widths and cover 0..1. p[i] is the
// probability of sample i, and right[i] says whether the sample is right. A probability below 0 counts as 0, above 1 as
// 1, and NaN as 0.
func Reliability(p []float64, right []bool, bins int) []Bin {
	out := make([]Bin, max(bins, 1))
	n := float64(len(out))
	for i := range out {
		out[i].From, out[i].To = float64(i)/n, float64(i+1)/n
	}
	for i, v := range p {
		v = unit(v)
		b := &out[min(int(v*n), len(out)-1)]
		b.Count++
		b.Mean += v
		if right[i] {
			b.Right++
		}
	}
	for i := range out {
		if b := &out[i]; b.Count > 0 {
			b.Mean /= float64(b.Count)
			b.Right /= float64(b.Count)
		}
	}
	return out
}

// Error returns the expected calibration error, 0..1. It is the mean distance, over all samples, between a bin's mean
// probability and its share of right samples. (Naeini, Cooper, Hauskrecht: Obtaining Well Calibrated Probabilities
// Using Bayesian Binning, 2015.) Without samples it returns 0.
//
// Example: two samples with 0.9, one of them right, and a wrong one with 0.2 give 1/3.
func Error(bins []Bin) float64 {
	total, sum := 0, 0.0
	for _, b := range bins {
		total += b.Count
		sum += float64(b.Count) * math.Abs(b.Mean-b.Right)
	}
	if total == 0 {
		return 0
	}
	return sum / float64(total)
}

// Chance returns the [Error] that perfect probabilities have on average, with the same number of samples in each bin.
// An error near this number may come from too few samples alone. The mean distance in a bin with n samples and the mean
// probability p is computed from a normal distribution:
//
//	sqrt(2 p (1-p) / (pi n))
//
// Example: 25 samples with 0.5 give 0.080.
func Chance(bins []Bin) float64 {
	total, sum := 0, 0.0
	for _, b := range bins {
		total += b.Count
		sum += math.Sqrt(2 * b.Mean * (1 - b.Mean) * float64(b.Count) / math.Pi)
	}
	if total == 0 {
		return 0
	}
	return sum / float64(total)
}

// Brier returns the mean squared distance between the probability of a sample, p[i], and the truth, right[i], as 1 or
// 0. Without samples it returns 0. Unlike [Error], it punishes a model that gives all samples the same probability.
func Brier(p []float64, right []bool) float64 {
	if len(p) == 0 {
		return 0
	}
	var sum float64
	for i, v := range p {
		d := unit(v) - truth(right[i])
		sum += d * d
	}
	return sum / float64(len(p))
}

// unit limits v to 0..1. NaN becomes 0.
func unit(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, 0), 1)
}

func truth(right bool) float64 {
	if right {
		return 1
	}
	return 0
}

// Folds divides samples at random into k folds of nearly equal size. It returns the fold of each sample, 0..k-1.
// groups has the group of each sample. Samples of one group come into one fold, for example the answers to one query. A
// sample with the group "" is a group of its own. The same seed gives the same folds.
func Folds(groups []string, k int, seed uint64) []int {
	var members [][]int
	at := map[string]int{}
	for i, group := range groups {
		j, ok := at[group]
		if !ok || group == "" {
			j = len(members)
			at[group] = j
			members = append(members, nil)
		}
		members[j] = append(members[j], i)
	}
	r := rand.New(rand.NewPCG(seed, 0xf01d))
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	slices.SortStableFunc(members, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	sizes, out := make([]int, k), make([]int, len(groups))
	for _, m := range members {
		f := slices.Index(sizes, slices.Min(sizes))
		for _, i := range m {
			out[i] = f
		}
		sizes[f] += len(m)
	}
	return out
}
