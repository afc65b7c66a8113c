package stats

import (
	"cmp"
	"math"
	"slices"
)

// PairedT returns the two-sided P, 0..1, of Student's t-test of the hypothesis that a and b have the same mean. a and b
// have the same length, and a[i] and b[i] are values of the same query. Fewer than two pairs prove nothing, so P is 1.
// If all differences are equal, except for rounding, P is 1 if they are 0, and 0 otherwise.
//
// Example: a = (1, 2, 3, 4), b = (0, 2, 1, 3). The differences 1, 0, 2, 1 have mean 1 and standard error sqrt(2/3)/2.
// So T is 2.449 with 3 degrees of freedom, and P = 0.0917.
func PairedT(a, b []float64) float64 {
	d := Differences(a, b)
	mean, squares := Mean(d), 0.0
	for _, v := range d {
		squares += (v - mean) * (v - mean)
	}
	const rounding = 1e-24
	switch df := float64(len(d) - 1); {
	case df < 1, squares <= rounding && mean*mean <= rounding:
		return 1
	case squares <= rounding:
		return 0
	default:
		return studentTail(mean/math.Sqrt(squares/df/float64(len(d))), df)
	}
}

// studentTail returns the probability that a value of Student's distribution is at least as far from 0 as t. df is the
// number of degrees of freedom. I is the regularized incomplete beta function. The probability is
//
//	I(df/(df+t²); df/2, 1/2)
func studentTail(t, df float64) float64 {
	return betaInc(df/(df+t*t), df/2, 0.5)
}

// betaInc returns the regularized incomplete beta function I(x; a, b). It evaluates the continued fraction (Abramowitz,
// Stegun: Handbook of Mathematical Functions, 26.5.8) from the front, by Lentz's method. For a large x it computes 1 -
// I(1-x; b, a) instead, because this fraction converges faster.
func betaInc(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaInc(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny, precision, most = 1e-300, 1e-15, 500
	f, c, d := 1.0, 1.0, 0.0
	for i := range most {
		m := float64(i / 2)
		var k float64
		switch {
		case i == 0:
			k = 1
		case i%2 == 0:
			k = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			k = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + k*d; math.Abs(d) < tiny {
			d = tiny
		}
		if c = 1 + k/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		f *= c * d
		if math.Abs(1-c*d) < precision {
			break
		}
	}
	return front * (f - 1)
}

// exactPairs is the largest number of differing pairs for which Randomization counts all choices of signs.
const exactPairs = 16

// Randomization returns the two-sided P of the paired randomization test. It is Fisher's test. (For rankings: Smucker,
// Allan, Carterette: A Comparison of Statistical Significance Tests for Information Retrieval Evaluation, 2007.) a and
// b have the same length. A choice gives a sign to each difference a[i]-b[i]. P is the share of choices whose mean is
// at least as far from 0 as the observed mean. If at most 16 pairs differ, Randomization counts all choices. Otherwise
// it draws ten thousand choices at random, and counts the observed choice too.
//
// Example: the differences 1, 0, 2, 1 of [PairedT] have 8 choices of signs. The sums 4 and -4 occur once each, so P =
// 2/8.
func Randomization(a, b []float64, seed uint64) float64 {
	var d []float64
	var observed float64
	for _, v := range Differences(a, b) {
		if v != 0 {
			d = append(d, v)
			observed += v
		}
	}
	if len(d) == 0 {
		return 1
	}
	// Sums of the same numbers in different orders differ by rounding.
	least := math.Abs(observed) * (1 - 1e-9)
	if len(d) <= exactPairs {
		return exactRandomization(d, least)
	}
	r := newRandom(seed)
	extreme := 1
	for range rounds {
		var sum float64
		var bits uint64
		for i, v := range d {
			if i%64 == 0 {
				bits = r.Uint64()
			}
			if bits&1 == 0 {
				v = -v
			}
			bits >>= 1
			sum += v
		}
		if math.Abs(sum) >= least {
			extreme++
		}
	}
	return float64(extreme) / float64(rounds+1)
}

func exactRandomization(d []float64, least float64) float64 {
	extreme := 0
	for signs := range 1 << len(d) {
		var sum float64
		for i, v := range d {
			if signs>>i&1 == 0 {
				sum += v
			} else {
				sum -= v
			}
		}
		if math.Abs(sum) >= least {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<len(d))
}

// Holm corrects the P of several tests for the number of tests. The chance of any false alarm then stays below the
// level (Holm: A Simple Sequentially Rejective Multiple Test Procedure, 1979). It multiplies the k-th smallest of n
// values by n-k+1. A corrected value is at least the corrected value of the next smaller p, and at most 1. The result
// has the order of p.
//
// Example: (0.01, 0.04, 0.03) gives (0.03, 0.06, 0.06).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out := make([]float64, len(p))
	var last float64
	for k, i := range order {
		last = min(1, max(last, p[i]*float64(len(p)-k)))
		out[i] = last
	}
	return out
}
