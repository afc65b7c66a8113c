package stats_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"sheaf/eval/stats"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// near compares a result with the result of another program.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	check.That(t, math.Abs(got-want) <= tolerance*max(1, math.Abs(want)), "%s is %v, want %v", what, got, want)
}

// TestEqualsSciPy checks against testdata/fixture.json, which make_fixture.py wrote with SciPy 1.17.
func TestEqualsSciPy(t *testing.T) {
	raw := must.Get(os.ReadFile("testdata/fixture.json"))
	var f struct {
		Pairs []struct {
			A, B             []float64
			P                float64
			Exact, Low, High *float64
		}
		Values    []float64
		Quantiles map[string]float64
		Betainc   [][4]float64
	}
	must.Do(t, json.Unmarshal(raw, &f))
	exact, intervals := 0, 0
	for i, c := range f.Pairs {
		near(t, fmt.Sprintf("p of pair %d", i), stats.PairedT(c.A, c.B), c.P, 1e-9)
		r := stats.Randomization(c.A, c.B, 3)
		if c.Exact != nil {
			exact++
			near(t, fmt.Sprintf("randomization of pair %d", i), r, *c.Exact, 1e-9)
		} else {
			near(t, fmt.Sprintf("randomization of pair %d beside t", i), r, c.P, 0.03)
		}
		if c.Low != nil {
			intervals++
			got := stats.Bootstrap(stats.Differences(c.A, c.B), 5)
			near(t, "low end", got.Low, *c.Low, 0.003)
			near(t, "high end", got.High, *c.High, 0.003)
		}
	}
	must.That(t, exact >= 8 && intervals >= 4 && len(f.Betainc) >= 50,
		"the fixture has %d exact tests, %d intervals, %d values of the beta function", exact, intervals, len(f.Betainc))
	for q, want := range f.Quantiles {
		share := must.Get(strconv.ParseFloat(q, 64))
		near(t, "quantile "+q, stats.Quantile(f.Values, share), want, 1e-12)
	}
	for _, b := range f.Betainc {
		near(t, fmt.Sprintf("I(%v; %v, %v)", b[0], b[1], b[2]), stats.BetaInc(b[0], b[1], b[2]), b[3], 1e-10)
	}
}

func TestWorkedByHand(t *testing.T) {
	a, b := []float64{1, 2, 3, 4}, []float64{0, 2, 1, 3}
	near(t, "P", stats.PairedT(a, b), 0.0917, 1e-4)
	near(t, "randomization", stats.Randomization(a, b, 1), 0.25, 0)
	check.List(t, stats.Holm([]float64{0.01, 0.04, 0.03}), []float64{0.03, 0.06, 0.06}, "Holm")
	near(t, "median", stats.Quantile([]float64{9, 1, 4, 2}, 0.5), 3, 0)
}

// TestNothingToTest checks no pairs, one pair, equal pairs and constant differences.
func TestNothingToTest(t *testing.T) {
	for _, x := range [][]float64{nil, {0.5}, {0.1, 0.2, 0.7}} {
		check.Equal(t, stats.PairedT(x, x), 1, "t of %v against itself", x)
		check.Equal(t, stats.Randomization(x, x, 1), 1, "randomization of %v against itself", x)
	}
	check.Equal(t, stats.PairedT([]float64{1, 1, 1}, []float64{0, 0, 0}), 0, "t of a constant difference")
	check.Equal(t, stats.Bootstrap(nil, 1), stats.Interval{}, "an interval of no samples")
	check.That(t, stats.Quantile(nil, 0.5) == 0 && stats.Mean(nil) == 0 && len(stats.Holm(nil)) == 0,
		"statistics of nothing")
}

// TestBootstrapWithin checks groups of unequal size with equal weight: the interval fits means with
// these weights. For equal values the interval is that value.
func TestBootstrapWithin(t *testing.T) {
	groups := []string{"few", "many", "many", "many", "many"}
	weighted := []float64{2.5, 0.625, 0.625, 0.625, 0.625} // 1 each, with equal weights of the two groups
	check.Equal(t, stats.BootstrapWithin(weighted, groups, 1), stats.Interval{Low: 1, High: 1},
		"BootstrapWithin")
	got := stats.Bootstrap(weighted, 1)
	check.That(t, got.High > 1, "drawn from all of them: %+v", got)
}

func TestProperties(t *testing.T) {
	value := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		a := rapid.SliceOfN(value, n, n).Draw(t, "a")
		b := rapid.SliceOfN(value, n, n).Draw(t, "b")
		seed := rapid.Uint64().Draw(t, "seed")
		before := slices.Clone(a)
		x, y := stats.PairedT(a, b), stats.PairedT(b, a)
		must.That(t, math.Abs(x-y) <= 1e-9 && x >= 0 && x <= 1, "P is %v one way and %v the other", x, y)
		r := stats.Randomization(a, b, seed)
		must.That(t, r > 0 && r <= 1 && r == stats.Randomization(a, b, seed), "randomization gives %v", r)
		interval := stats.Bootstrap(a, seed)
		must.That(t, interval.Low <= interval.High && interval.Low >= slices.Min(a)-1e-12 &&
			interval.High <= slices.Max(a)+1e-12, "interval %v of %v", interval, a)
		holm := stats.Holm(a)
		for i := range a {
			must.That(t, holm[i] >= a[i] && holm[i] <= 1, "Holm made %v of %v", holm[i], a[i])
			for j := range a {
				if a[i] < a[j] && holm[i] > holm[j] {
					t.Fatal("Holm changed the order")
				}
			}
		}
		must.That(t, slices.Equal(a, before), "the input was changed")
	})
}

// TestLevels checks that about one in twenty comparisons without a difference is significant at 5
// %. Intervals of 95 % contain the mean about as often as they should.
func TestLevels(t *testing.T) {
	const trials, n = 300, 30
	state := uint64(12345)
	uniform := func() float64 {
		state = state*6364136223846793005 + 1442695040888963407
		return float64(state>>11) / (1 << 53)
	}
	byT, byR, inside := 0, 0, 0
	for i := range trials {
		a, b := make([]float64, n), make([]float64, n)
		for j := range a {
			a[j], b[j] = uniform(), uniform()
		}
		if stats.PairedT(a, b) < 0.05 {
			byT++
		}
		if stats.Randomization(a, b, uint64(i)) < 0.05 {
			byR++
		}
		if stats.Bootstrap(a, uint64(i)).Contains(0.5) {
			inside++
		}
	}
	for what, count := range map[string]int{"t": byT, "randomization": byR} {
		share := float64(count) / trials
		check.That(t, share >= 0.02 && share <= 0.09, "%s calls %.1f %% of nothing significant at 5 %%", what, 100*share)
	}
	share := float64(inside) / trials
	check.That(t, share >= 0.90 && share <= 0.98, "intervals of 95 %% hold the mean in %.1f %%", 100*share)
}

func ExamplePairedT() {
	fmt.Printf("%.4f\n", stats.PairedT([]float64{1, 2, 3, 4}, []float64{0, 2, 1, 3}))
	// Output: 0.0917
}
