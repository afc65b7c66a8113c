package calibrate

import (
	"math"
	"slices"
)

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

// FitLogistic fits a logistic map to samples. It maximizes the log-likelihood minus ridge/2 times the sum of the
// squared weights, for features scaled to deviation 1. ridge keeps the weights small if there are few samples: 1 is a
// good choice, and 0 switches it off.
//
// rows[i] has the features of sample i, and right[i] its answer. All rows have the same length. A value that is not
// finite counts as 0. A sample of weight 2 counts twice; with nil weights, each sample counts once. Without samples, or
// without a weight above 0, the map is zero.
//
// FitLogistic uses Newton's method with step halving, on features shifted to mean 0 and scaled to deviation 1. A tiny
// extra ridge keeps the weights finite if the features separate the samples without error.
func FitLogistic(rows [][]float64, right []bool, weights []float64, ridge float64) Logistic {
	targets := make([]float64, len(rows))
	for i := range targets {
		targets[i] = truth(right[i])
	}
	if len(rows) == 0 {
		return Logistic{}
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(rows))
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	if !(total > 0) {
		return Logistic{}
	}
	x, mean, scale := standardized(rows, weights, total)
	width := len(x[0])
	const tiny, steps, precision = 1e-9, 100, 1e-10
	penalty := ridge + tiny*total
	w := make([]float64, width)
	loss := lossOf(x, targets, weights, w, penalty)
	for range steps {
		gradient, hessian := derivatives(x, targets, weights, w, penalty)
		step := solve(hessian, gradient)
		if step == nil {
			break
		}
		next, nextLoss := w, math.Inf(1)
		for size := 1.0; size > 1e-6; size /= 2 {
			next = slices.Clone(w)
			for j := range next {
				next[j] -= size * step[j]
			}
			if nextLoss = lossOf(x, targets, weights, next, penalty); nextLoss <= loss {
				break
			}
		}
		if !(nextLoss <= loss) {
			break
		}
		done := loss-nextLoss < precision*precision*(1+loss)
		w, loss = next, nextLoss
		if done {
			break
		}
	}
	f := Logistic{Bias: w[0], Weights: make([]float64, width-1)}
	for j := range f.Weights {
		f.Weights[j] = w[j+1] / scale[j]
		f.Bias -= f.Weights[j] * mean[j]
	}
	return f
}

// standardized returns the rows with a leading 1, and with each feature scaled to weighted mean 0 and deviation 1. A
// constant feature becomes 0. The parameter total is the sum of the sample weights.
func standardized(rows [][]float64, weights []float64, total float64) (x [][]float64, mean, scale []float64) {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	mean, scale = make([]float64, width), make([]float64, width)
	value := func(row []float64, j int) float64 {
		if j >= len(row) || math.IsNaN(row[j]) || math.IsInf(row[j], 0) {
			return 0
		}
		return row[j]
	}
	const rounding = 1e-14 // rounding error in the mean of equal values
	for j := range mean {
		for i, row := range rows {
			mean[j] += value(row, j) * weights[i] / total
		}
		for i, row := range rows {
			d := value(row, j) - mean[j]
			scale[j] += d * d * weights[i] / total
		}
		if scale[j] = math.Sqrt(scale[j]); scale[j] <= rounding*math.Abs(mean[j]) || math.IsInf(scale[j], 0) {
			scale[j] = 1
		}
	}
	for _, row := range rows {
		out := make([]float64, width+1)
		out[0] = 1
		for j := range mean {
			out[j+1] = (value(row, j) - mean[j]) / scale[j]
		}
		x = append(x, out)
	}
	return x, mean, scale
}

// lossOf returns the negative log-likelihood plus the ridge penalty.
func lossOf(x [][]float64, targets, weights, w []float64, penalty float64) float64 {
	var loss float64
	for i, row := range x {
		z := dot(row, w)
		// -t log p - (1-t) log(1-p), without overflow.
		loss += weights[i] * (math.Log1p(math.Exp(-math.Abs(z))) + max(z, 0) - targets[i]*z)
	}
	for _, v := range w[1:] {
		loss += penalty / 2 * v * v
	}
	return loss
}

func derivatives(x [][]float64, targets, weights, w []float64, penalty float64) (gradient []float64,
	hessian [][]float64) {
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
			for k := 0; k <= j; k++ {
				hessian[j][k] += weight * a * row[k]
			}
		}
	}
	for j := range w {
		if j > 0 {
			gradient[j] += penalty * w[j]
			hessian[j][j] += penalty
		}
		hessian[j][j] += 1e-12 // avoids a division by 0 when every sample is certain
		for k := range j {
			hessian[k][j] = hessian[j][k]
		}
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

// solve returns the vector x for which a*x = b, or nil without a solution. It eliminates rows, with the largest pivots.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	m := make([][]float64, n)
	for i := range m {
		m[i] = append(slices.Clone(a[i]), b[i])
	}
	for col := range n {
		pivot := col
		for r := col + 1; r < n; r++ {
			if math.Abs(m[r][col]) > math.Abs(m[pivot][col]) {
				pivot = r
			}
		}
		if !(math.Abs(m[pivot][col]) > 0) {
			return nil
		}
		m[col], m[pivot] = m[pivot], m[col]
		for r := range n {
			if r == col {
				continue
			}
			f := m[r][col] / m[col][col]
			for c := col; c <= n; c++ {
				m[r][c] -= f * m[col][c]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = m[i][n] / m[i][i]
	}
	return x
}
