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

// Logistic is the probability 1/(1 + e^-(Bias + sum of Weights[j] x feature j)).
type Logistic struct {
	Bias    float64   `json:"bias"`    // the constant part
	Weights []float64 `json:"weights"` // the weight of each feature
}

// At returns the probability for the features of a sample. It ignores features beyond Weights. A missing feature and an
// infinite or NaN feature count as 0.
func (f Logistic) At(features ...float64) float64 {
	z := f.Bias
	for j, w := range f.Weights {
		if j < len(features) && !math.IsNaN(features[j]) && !math.IsInf(features[j], 0) {
			z += w * features[j]
		}
	}
	return 1 / (1 + math.Exp(-z))
}

// ridge keeps [Logistic.Weights] small if there are few samples.
const ridge = 1

// FitLogistic fits a logistic map to samples. It maximizes the log-likelihood minus ridge/2 times the sum of the
// squares of [Logistic.Weights], for features scaled to deviation 1.
//
// rows[i] has the features of sample i, which are finite. All rows have the same length. right[i] says whether sample i
// is right. A sample with weights[i] = 2 counts twice. Without samples, or without a weight above 0, the result is
// zero.
//
// FitLogistic uses Newton's method with step halving, on features shifted to mean 0 and scaled to deviation 1.
func FitLogistic(rows [][]float64, right []bool, weights []float64) Logistic {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	if total == 0 {
		return Logistic{}
	}
	targets := make([]float64, len(rows))
	for i := range targets {
		targets[i] = truth(right[i])
	}
	x, mean, scale := standardized(rows, weights, total)
	const steps, precision = 100, 1e-20
	w := make([]float64, len(x[0]))
	loss := lossOf(x, targets, weights, w)
	for range steps {
		gradient, hessian := derivatives(x, targets, weights, w)
		step := solve(hessian, gradient)
		next, nextLoss := w, math.Inf(1)
		for size := 1.0; size > 1e-6 && nextLoss > loss; size /= 2 {
			next = slices.Clone(w)
			for j := range next {
				next[j] -= size * step[j]
			}
			nextLoss = lossOf(x, targets, weights, next)
		}
		gain := loss - nextLoss
		if gain >= 0 {
			w, loss = next, nextLoss
		}
		if gain < precision*(1+loss) {
			break
		}
	}
	f := Logistic{Bias: w[0], Weights: make([]float64, len(mean))}
	for j := range f.Weights {
		f.Weights[j] = w[j+1] / scale[j]
		f.Bias -= f.Weights[j] * mean[j]
	}
	return f
}

// standardized returns the rows with a leading 1, and with each feature scaled to weighted mean 0 and deviation 1. It
// subtracts mean[j] from feature j, and divides the difference by scale[j]. A constant feature becomes 0. The parameter
// total is the sum of the sample weights.
func standardized(rows [][]float64, weights []float64, total float64) (x [][]float64, mean, scale []float64) {
	mean, scale = make([]float64, len(rows[0])), make([]float64, len(rows[0]))
	const (
		rounding = 1e-14  // rounding error in the mean of equal values
		smallest = 1e-150 // squares of smaller differences lose precision
	)
	for j := range mean {
		for i, row := range rows {
			mean[j] += row[j] * weights[i] / total
		}
		for i, row := range rows {
			d := row[j] - mean[j]
			scale[j] += d * d * weights[i] / total
		}
		if scale[j] = math.Sqrt(scale[j]); scale[j] <= max(smallest, rounding*math.Abs(mean[j])) {
			scale[j] = 1
		}
	}
	for _, row := range rows {
		out := []float64{1}
		for j, v := range row {
			out = append(out, (v-mean[j])/scale[j])
		}
		x = append(x, out)
	}
	return x, mean, scale
}

// lossOf returns the negative log-likelihood plus the ridge penalty, for the bias w[0] and the weights w[1:].
func lossOf(x [][]float64, targets, weights, w []float64) float64 {
	var loss float64
	for i, row := range x {
		z := dot(row, w)
		// -t log p - (1-t) log(1-p), without overflow.
		loss += weights[i] * (math.Log1p(math.Exp(-math.Abs(z))) + max(z, 0) - targets[i]*z)
	}
	for _, v := range w[1:] {
		loss += ridge / 2.0 * v * v
	}
	return loss
}

func derivatives(x [][]float64, targets, weights, w []float64) (gradient []float64, hessian [][]float64) {
	gradient = make([]float64, len(w))
	hessian = make([][]float64, len(w))
	for j := range hessian {
		hessian[j] = make([]float64, len(w))
	}
	for i, row := range x {
		p := 1 / (1 + math.Exp(-dot(row, w)))
		weight := weights[i] * p * (1 - p)
		for j, a := range row {
			gradient[j] += weights[i] * (p - targets[i]) * a
			for k, b := range row {
				hessian[j][k] += weight * a * b
			}
		}
	}
	for j := range w {
		if j > 0 {
			gradient[j] += ridge * w[j]
			hessian[j][j] += ridge
		}
		hessian[j][j] += 1e-12 // avoids a division by 0 when every sample is certain
	}
	return gradient, hessian
}

func dot(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// solve returns the vector x for which a*x = b, and overwrites a. The matrix a is symmetric and positive definite, so
// elimination needs no pivots.
func solve(a [][]float64, b []float64) []float64 {
	x := slices.Clone(b)
	for col := range x {
		for r := col + 1; r < len(x); r++ {
			f := a[r][col] / a[col][col]
			for c := col; c < len(x); c++ {
				a[r][c] -= f * a[col][c]
			}
			x[r] -= f * x[col]
		}
	}
	for i := range slices.Backward(x) {
		for j := i + 1; j < len(x); j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
	}
	return x
}
