// Package stats compares rankings by pure functions: bootstrap intervals, paired tests, corrections, and quantiles.
//
// Every random function takes a seed and gives the same result for the same input on every machine.
package stats

import (
	"cmp"
	"math"
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
