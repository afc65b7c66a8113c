package calibrate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sheaf/eval/calibrate"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestEqualsSciPy checks against testdata/fixture.json, which make_fixture.py wrote with SciPy 1.17.
func TestEqualsSciPy(t *testing.T) {
	raw := must.Get(os.ReadFile("testdata/fixture.json"))
	var cases []struct {
		Right    []bool
		Rows     [][]float64
		Logistic calibrate.Logistic
	}
	must.Do(t, json.Unmarshal(raw, &cases))
	must.That(t, len(cases) == 3, "%d cases", len(cases))
	for _, c := range cases {
		f := calibrate.FitLogistic(c.Rows, c.Right, slices.Repeat([]float64{1}, len(c.Rows)))
		for _, row := range c.Rows {
			if got, want := f.At(row...), c.Logistic.At(row...); math.Abs(got-want) > 1e-6 {
				t.Errorf("%d samples, at %v: %v, want %v", len(c.Rows), row, got, want)
			}
		}
	}
}

func TestWorkedByHand(t *testing.T) {
	bins := calibrate.Reliability([]float64{0.9, 0.9, 0.2}, []bool{true, false, false}, 10)
	got := calibrate.Error(bins)
	check.That(t, math.Abs(got-1.0/3) <= 1e-12, "error %v", got)
	b := bins[9]
	check.That(t, b.Count == 2 && b.Right == 0.5 && bins[2].Count == 1, "%+v", bins)
	check.Equal(t, calibrate.Brier([]float64{1, 0.5}, []bool{true, false}), 0.125, "Brier")
}

// TestChance compares the error by chance with the mean error of perfect probabilities.
func TestChance(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const trials, samples = 500, 250
	by, measured := 0.0, 0.0
	for range trials {
		p, right := make([]float64, samples), make([]bool, samples)
		for i := range p {
			p[i] = math.Sqrt(random.Float64())
			right[i] = random.Float64() < p[i]
		}
		bins := calibrate.Reliability(p, right, 10)
		by, measured = by+calibrate.Chance(bins)/trials, measured+calibrate.Error(bins)/trials
	}
	if math.Abs(by/measured-1) > 0.05 {
		t.Errorf("the error by chance is %.4f, the mean error %.4f", by, measured)
	}
	half := []calibrate.Bin{{Count: 25, Mean: 0.5}}
	if got := calibrate.Chance(half); math.Abs(got-0.0798) > 1e-4 {
		t.Errorf("25 samples with 0.5 give %v", got)
	}
	check.Equal(t, calibrate.Chance(nil), 0.0, "the error by chance without bins")
}

// TestOddInput checks no sample, one sample, one outcome, separable samples, constant features, and
// numbers that are not finite.
func TestOddInput(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		score []float64
		right []bool
	}{
		{nil, nil}, {[]float64{1}, []bool{true}}, {[]float64{1, 2, 3}, []bool{true, true, true}},
		{[]float64{1, 2, 3, 4}, []bool{false, false, true, true}},
		{[]float64{5, 5, 5}, []bool{true, false, true}},
		{[]float64{1e100, -1e100, 0, 1}, []bool{true, false, true, false}},
	} {
		rows := make([][]float64, len(c.score))
		for i, s := range c.score {
			rows[i] = []float64{s, 7}
		}
		f := calibrate.FitLogistic(rows, c.right, slices.Repeat([]float64{1}, len(rows)))
		for _, s := range []float64{-1, 0, 2.5, 1e308, nan, math.Inf(-1)} {
			for what, got := range map[string]float64{"fit": f.At(s, 7), "none": calibrate.Logistic{}.At(s)} {
				check.That(t, got >= 0 && got <= 1, "%s of %v at %v: %v", what, c.score, s, got)
			}
		}
	}
	check.That(t, calibrate.Error(calibrate.Reliability(nil, nil, 0)) == 0, "an error without samples")
}

// TestMeanIsKept checks that probabilities sum to the number of right samples, and are no worse than the mean. JSON
// preserves the fit.
func TestMeanIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		score := rapid.SliceOfN(rapid.Float64Range(-5, 5), n, n).Draw(t, "score")
		right := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "right")
		rows := make([][]float64, n)
		for i, s := range score {
			rows[i] = []float64{s}
		}
		f := calibrate.FitLogistic(rows, right, slices.Repeat([]float64{1}, len(rows)))
		p, mean := make([]float64, n), make([]float64, n)
		var sum, truth float64
		for i, s := range score {
			p[i] = f.At(s)
			sum += p[i]
			if right[i] {
				truth++
			}
		}
		for i := range mean {
			mean[i] = truth / float64(n)
		}
		must.That(t, math.Abs(sum-truth) <= 1e-6*float64(n), "probabilities sum to %v, %v are right", sum, truth)
		if got, half := calibrate.Brier(p, right), calibrate.Brier(mean, right); got > half+1e-6 {
			t.Fatalf("worse than saying the mean: %v > %v", got, half)
		}
		back, err := json.Marshal(f)
		var g calibrate.Logistic
		must.That(t, err == nil && json.Unmarshal(back, &g) == nil && g.At(score[0]) == p[0], "JSON: %s, %v", back, err)
	})
}

// TestWeights checks that weight 2 counts a sample twice, and weight 0 drops it.
func TestWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		feature := rapid.OneOf(rapid.Float64Range(-5, 5), rapid.SampledFrom([]float64{1e-159, -3e-160}))
		var rows, repeated [][]float64
		var right, rightRepeated []bool
		var weights, ones []float64
		for range n {
			row := rapid.SliceOfN(feature, 2, 2).Draw(t, "row")
			is, times := rapid.Bool().Draw(t, "right"), rapid.IntRange(0, 3).Draw(t, "times")
			rows, right, weights = append(rows, row), append(right, is), append(weights, float64(times))
			for range times {
				repeated, rightRepeated, ones = append(repeated, row), append(rightRepeated, is), append(ones, 1)
			}
		}
		got, want := calibrate.FitLogistic(rows, right, weights), calibrate.FitLogistic(repeated, rightRepeated, ones)
		for _, row := range repeated {
			if g, w := got.At(row...), want.At(row...); math.Abs(g-w) > 1e-6 {
				t.Fatalf("at %v: %v with weights, %v with samples repeated", row, g, w)
			}
		}
	})
}

// TestFolds checks that every sample is in one fold, and that groups stay together and sizes are near.
func TestFolds(t *testing.T) {
	group := make([]string, 103)
	for i := range group {
		group[i] = fmt.Sprint(i / 3)
	}
	folds := calibrate.Folds(group, 5, 1)
	sizes := make([]int, 5)
	for i, f := range folds {
		sizes[f]++
		if i%3 > 0 && folds[i-1] != f {
			t.Errorf("group %s is torn", group[i])
		}
	}
	check.That(t, slices.Max(sizes)-slices.Min(sizes) <= 3, "sizes %v", sizes)
	check.That(t, slices.Equal(folds, calibrate.Folds(group, 5, 1)) &&
		!slices.Equal(folds, calibrate.Folds(group, 5, 2)), "the seed decides")
}

// TestHeldOutErrorIsSmall checks an error below 0.05 on held-out folds of known probabilities.
func TestHeldOutErrorIsSmall(t *testing.T) {
	const n = 2000
	r := rand.New(rand.NewPCG(1, 2))
	score, rows, right := make([]float64, n), make([][]float64, n), make([]bool, n)
	for i := range score {
		score[i] = 6*r.Float64() - 3
		rows[i] = []float64{score[i]}
		right[i] = r.Float64() < 1/(1+math.Exp(-2*score[i]+1))
	}
	p, folds := make([]float64, n), calibrate.Folds(make([]string, n), 5, 1)
	for fold := range 5 {
		weights := make([]float64, n)
		for i, f := range folds {
			if f != fold {
				weights[i] = 1
			}
		}
		fit := calibrate.FitLogistic(rows, right, weights)
		for i, f := range folds {
			if f == fold {
				p[i] = fit.At(rows[i]...)
			}
		}
	}
	e := calibrate.Error(calibrate.Reliability(p, right, 10))
	check.That(t, e < 0.05, "error %.3f", e)
	raw := make([]float64, n)
	for i, s := range score {
		raw[i] = (s + 3) / 6
	}
	e = calibrate.Error(calibrate.Reliability(raw, right, 10))
	check.That(t, e >= 0.05, "the raw scores are calibrated already (%.3f): the test shows nothing", e)
}
