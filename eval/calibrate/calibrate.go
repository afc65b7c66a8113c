// Package calibrate answers the question "how often is an answer of this score
// right?". It turns scores and features into probabilities that mean what they
// say, and measures whether they do, as pure functions of numbers.
//
// [FitLogistic] finds the map, which is small, can be written as JSON and applied
// anywhere. [HeldOut] gives every sample the probability of a fit that has not seen it,
// and [Reliability] and [Error] say how far those are from the truth.
package calibrate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Bin is a group of samples of similar probability.
type Bin struct {
	// From and To bound the probabilities: From <= p < To, and p = 1 in the
	// last one.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Count is how many samples there are, Mean the mean of their
	// probabilities, Right the share that is right; both 0 without samples.
	Count int     `json:"count"`
	Mean  float64 `json:"mean"`
	Right float64 `json:"right"`
}

// Reliability sorts samples into bins of equal width over 0..1. p and right have
// the same length; probabilities outside 0..1 and NaN count at the nearest end,
// NaN at 0.
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

// Error is the expected calibration error: the mean over all samples of the
// distance between the probability and the share that is right in their bin
// (Naeini, Cooper, Hauskrecht: Obtaining Well Calibrated Probabilities Using
// Bayesian Binning, 2015). It lies in 0..1, and is 0 without samples.
//
// Example: of two samples of probability 0.9 one is right, and one of 0.2 is
// not: (2 x |0.9 - 0.5| + 1 x |0.2 - 0|) / 3 = 0.333.
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

// Brier is the mean squared distance between the probability and what is true (1
// or 0), 0 without samples. Unlike [Error] it also tells a model that knows
// something from one that says the same of everything.
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

// unit brings v into 0..1; NaN is 0.
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

// Folds deals n samples into k groups, as equal in size as can be, at random but
// the same for the same seed. group[i], where group is not nil, names samples
// that must stay together, such as the answers to one query; then sizes are as
// equal as the groups allow. k is at least 1. The result holds the fold of each
// sample, 0..k-1.
func Folds(n, k int, group []string, seed uint64) []int {
	k = max(k, 1)
	r := rand.New(rand.NewPCG(seed, 0xf01d))
	members := make([][]int, 0, n)
	at := map[string]int{}
	for i := range n {
		if group == nil {
			members = append(members, []int{i})
			continue
		}
		j, ok := at[group[i]]
		if !ok {
			j = len(members)
			at[group[i]] = j
			members = append(members, nil)
		}
		members[j] = append(members[j], i)
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	slices.SortStableFunc(members, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	sizes := make([]int, k)
	out := make([]int, n)
	for _, m := range members {
		f := 0
		for j := range sizes {
			if sizes[j] < sizes[f] {
				f = j
			}
		}
		for _, i := range m {
			out[i] = f
		}
		sizes[f] += len(m)
	}
	return out
}

// HeldOut gives every sample the value that fit, shown the samples of all other
// folds, predicts for it. fit gets the indices of the samples to learn from and
// returns a function of the index of a sample.
func HeldOut(folds []int, fit func(train []int) func(i int) float64) []float64 {
	out := make([]float64, len(folds))
	k := 0
	for _, f := range folds {
		k = max(k, f+1)
	}
	for fold := range k {
		var train []int
		for i, f := range folds {
			if f != fold {
				train = append(train, i)
			}
		}
		predict := fit(train)
		for i, f := range folds {
			if f == fold {
				out[i] = predict(i)
			}
		}
	}
	return out
}
