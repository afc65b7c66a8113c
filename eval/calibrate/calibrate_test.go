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
)

// TestEqualsSciPy compares with testdata/fixture.json, which
// testdata/make_fixture.py wrote with SciPy 1.17.
func TestEqualsSciPy(t *testing.T) {
	raw, err := os.ReadFile("testdata/fixture.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Score, Isotonic []float64
		Right           []bool
		Rows            [][]float64
		Platt, Logistic calibrate.Logistic
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 3 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		f := calibrate.FitIsotonic(c.Score, c.Right)
		platt := calibrate.FitPlatt(c.Score, c.Right)
		logistic := calibrate.FitLogistic(c.Rows, c.Right, 1)
		for i, s := range c.Score {
			for _, p := range []struct {
				what             string
				got, want, least float64
			}{
				{"isotonic", f.At(s), c.Isotonic[i], 1e-12},
				{"Platt", platt.At(s), c.Platt.At(s), 1e-6},
				{"logistic", logistic.At(c.Rows[i]...), c.Logistic.At(c.Rows[i]...), 1e-6},
			} {
				if math.Abs(p.got-p.want) > p.least {
					t.Errorf("%s of %d samples at %v: %v, want %v", p.what, len(c.Score), s, p.got, p.want)
				}
			}
		}
	}
}

func TestWorkedByHand(t *testing.T) {
	bins := calibrate.Reliability([]float64{0.9, 0.9, 0.2}, []bool{true, false, false}, 10)
	if got := calibrate.Error(bins); math.Abs(got-1.0/3) > 1e-12 {
		t.Errorf("error %v", got)
	}
	if b := bins[9]; b.Count != 2 || b.Right != 0.5 || bins[2].Count != 1 {
		t.Errorf("%+v", bins)
	}
	if got := calibrate.Brier([]float64{1, 0.5}, []bool{true, false}); got != 0.125 {
		t.Errorf("Brier %v", got)
	}
	f := calibrate.FitIsotonic([]float64{1, 2, 3, 4}, []bool{false, true, false, true})
	for score, want := range map[float64]float64{0: 0, 1: 0, 1.5: 0.25, 2: 0.5, 2.7: 0.5, 3: 0.5, 4: 1, 9: 1} {
		if got := f.At(score); math.Abs(got-want) > 1e-12 {
			t.Errorf("at %v: %v, want %v", score, got, want)
		}
	}
}

// TestOddInput: nothing, one sample, one outcome, samples told apart without
// error, features that never change, numbers that are none.
func TestOddInput(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		score []float64
		right []bool
	}{
		{nil, nil}, {[]float64{1}, []bool{true}}, {[]float64{1, 2, 3}, []bool{true, true, true}}, {[]float64{1, 2, 3, 4}, []bool{false, false, true, true}},
		{[]float64{5, 5, 5}, []bool{true, false, true}}, {[]float64{nan, math.Inf(1), 1e300, -1e300}, []bool{true, false, true, false}},
	} {
		rows := make([][]float64, len(c.score))
		for i, s := range c.score {
			rows[i] = []float64{s, 7}
		}
		f, p, l := calibrate.FitIsotonic(c.score, c.right), calibrate.FitPlatt(c.score, c.right), calibrate.FitLogistic(rows, c.right, 1)
		for _, s := range []float64{-1, 0, 2.5, 1e308, nan, math.Inf(-1)} {
			for what, got := range map[string]float64{"isotonic": f.At(s), "Platt": p.At(s), "logistic": l.At(s, 7), "none": calibrate.Logistic{}.At(s)} {
				if !(got >= 0 && got <= 1) {
					t.Errorf("%s of %v at %v: %v", what, c.score, s, got)
				}
			}
		}
	}
	if calibrate.Error(calibrate.Reliability(nil, nil, 0)) != 0 {
		t.Error("an error without samples")
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		score := rapid.SliceOfN(rapid.Float64Range(-5, 5), n, n).Draw(t, "score")
		right := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "right")
		f := calibrate.FitIsotonic(score, right)
		var sum, truth float64
		grid := slices.Clone(score)
		slices.Sort(grid)
		last := 0.0
		for _, s := range grid {
			p := f.At(s)
			if p < last-1e-12 || p > 1 {
				t.Fatalf("%v after %v", p, last)
			}
			last = p
		}
		for i := range score {
			sum += f.At(score[i])
			if right[i] {
				truth++
			}
		}
		if math.Abs(sum-truth) > 1e-9*float64(n) {
			t.Fatalf("probabilities sum to %v, %v are right", sum, truth)
		}
		if p, half := calibrate.Brier(scoresOf(f, score), right), calibrate.Brier(constant(truth/float64(n), n), right); p > half+1e-12 {
			t.Fatalf("worse than saying the mean: %v > %v", p, half)
		}
		back, err := json.Marshal(f)
		var g calibrate.Isotonic
		if err != nil || json.Unmarshal(back, &g) != nil || !slices.Equal(scoresOf(g, score), scoresOf(f, score)) {
			t.Fatalf("JSON: %s, %v", back, err)
		}
	})
}

func scoresOf(f calibrate.Isotonic, score []float64) []float64 {
	out := make([]float64, len(score))
	for i, s := range score {
		out[i] = f.At(s)
	}
	return out
}

func constant(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestFolds: every sample once, groups whole, sizes equal, the same each time.
func TestFolds(t *testing.T) {
	group := make([]string, 103)
	for i := range group {
		group[i] = fmt.Sprint(i / 3)
	}
	folds := calibrate.Folds(len(group), 5, group, 1)
	sizes := make([]int, 5)
	for i, f := range folds {
		sizes[f]++
		if i%3 > 0 && folds[i-1] != f {
			t.Errorf("group %s is torn", group[i])
		}
	}
	if slices.Max(sizes)-slices.Min(sizes) > 3 {
		t.Errorf("sizes %v", sizes)
	}
	if !slices.Equal(folds, calibrate.Folds(len(group), 5, group, 1)) || slices.Equal(folds, calibrate.Folds(len(group), 5, group, 2)) {
		t.Error("the seed decides")
	}
}

// TestHeldOutErrorIsSmall: scores whose probability of being right is known are
// calibrated, on folds held out, to an error below 0.05, by each method.
func TestHeldOutErrorIsSmall(t *testing.T) {
	const n = 2000
	r := rand.New(rand.NewPCG(1, 2))
	score, rows, right := make([]float64, n), make([][]float64, n), make([]bool, n)
	for i := range score {
		score[i] = 6*r.Float64() - 3
		rows[i] = []float64{score[i]}
		right[i] = r.Float64() < 1/(1+math.Exp(-2*score[i]+1))
	}
	folds := calibrate.Folds(n, 5, nil, 1)
	pick := func(train []int) (s []float64, x [][]float64, y []bool) {
		for _, i := range train {
			s, x, y = append(s, score[i]), append(x, rows[i]), append(y, right[i])
		}
		return s, x, y
	}
	for name, fit := range map[string]func(train []int) func(i int) float64{
		"isotonic": func(train []int) func(int) float64 {
			s, _, y := pick(train)
			f := calibrate.FitIsotonic(s, y)
			return func(i int) float64 { return f.At(score[i]) }
		},
		"Platt": func(train []int) func(int) float64 {
			s, _, y := pick(train)
			f := calibrate.FitPlatt(s, y)
			return func(i int) float64 { return f.At(score[i]) }
		},
		"logistic": func(train []int) func(int) float64 {
			_, x, y := pick(train)
			f := calibrate.FitLogistic(x, y, 1)
			return func(i int) float64 { return f.At(rows[i]...) }
		},
	} {
		p := calibrate.HeldOut(folds, fit)
		if e := calibrate.Error(calibrate.Reliability(p, right, 10)); e >= 0.05 {
			t.Errorf("%s: error %.3f", name, e)
		}
	}
	raw := make([]float64, n)
	for i, s := range score {
		raw[i] = (s + 3) / 6
	}
	if e := calibrate.Error(calibrate.Reliability(raw, right, 10)); e < 0.05 {
		t.Errorf("the raw scores are calibrated already (%.3f): the test shows nothing", e)
	}
}

func ExampleFitIsotonic() {
	f := calibrate.FitIsotonic([]float64{1, 2, 3, 4}, []bool{false, true, false, true})
	fmt.Println(f.At(2.5), f.At(4))
	// Output: 0.5 1
}
