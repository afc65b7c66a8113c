package tune_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sheaf"
	"sheaf/eval/tune"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// hill has its top at a = 0.7 and b = 30, by gain above the defaults a = 0.5, b = 60. Every query
// adds its own noise to every setting.
func hill(gain, noise float64) tune.Problem {
	return tune.Problem{
		Parameters: []tune.Parameter{
			{Name: "a", Values: []string{"0", "0.1", "0.3", "0.5", "0.7", "0.9"}, Default: "0.5"},
			{Name: "b", Values: []string{"10", "30", "60", "100"}, Default: "60"},
		},
		Weights: slices.Repeat([]float64{1}, 120),
		Folds:   5,
		Seed:    1,
		Values: func(_ context.Context, set map[string]string) ([]float64, error) {
			a, b := 0.5, 60.0
			if v, ok := set["a"]; ok {
				a, _ = strconv.ParseFloat(v, 64)
			}
			if v, ok := set["b"]; ok {
				b, _ = strconv.ParseFloat(v, 64)
			}
			height := gain * (1 - 5*math.Abs(a-0.7) + 0.2 - math.Abs(b-30)/150)
			out := make([]float64, 120)
			r := rand.New(rand.NewPCG(uint64(a*1000), uint64(b)))
			for i := range out {
				out[i] = 0.4 + height + noise*(r.Float64()-0.5)
			}
			return out, nil
		},
	}
}

func TestFindsBestSetting(t *testing.T) {
	r := must.Get(tune.Search(context.Background(), hill(0.05, 0.1)))
	check.That(t, r.Better && r.Set["a"] == "0.7" && r.Set["b"] == "30" && len(r.Folds) == 5 &&
		strings.HasPrefix(r.Verdict, "better: a 0.7, b 30"), "%+v", r)
	check.That(t, r.Range.Contains(r.Difference) && math.Abs(r.Difference-(r.HeldOut-r.Default)) <= 1e-12 && r.Tried <= 24,
		"%+v", r)
}

// TestLuckyGainIsDetected checks settings that differ only by noise. A setting looks better on the
// queries that chose it, but not on held-out queries.
func TestLuckyGainIsDetected(t *testing.T) {
	r := must.Get(tune.Search(context.Background(), hill(0, 0.5)))
	check.That(t, !r.Better && r.Fitted > r.Default && r.HeldOut < r.Fitted &&
		strings.Contains(r.Verdict, "no significant difference: keep the simpler one"), "%+v", r)
}

// TestDefaultsStayWithoutGain checks that no parameter changes when no setting gains.
func TestDefaultsStayWithoutGain(t *testing.T) {
	p := hill(0, 0)
	p.Folds = 3
	r := must.Get(tune.Search(context.Background(), p))
	check.That(t, !r.Better && len(r.Set) == 0 && r.Fitted == r.Default && r.P == 1 &&
		strings.Contains(r.Verdict, "the defaults are best"), "%+v", r)
}

// TestWeights checks that means of parts of weighted queries are still means.
func TestWeights(t *testing.T) {
	p := hill(0, 0)
	values := p.Values
	for i := range p.Weights {
		p.Weights[i] = 0.5 + float64(i%2)
	}
	p.Values = func(ctx context.Context, set map[string]string) ([]float64, error) {
		out, err := values(ctx, set)
		for i := range out {
			out[i] *= p.Weights[i]
		}
		return out, err
	}
	r := must.Get(tune.Search(context.Background(), p))
	for _, f := range r.Folds {
		check.That(t, math.Abs(f.Default-r.Default) <= 1e-9 && math.Abs(f.Chosen-r.Default) <= 1e-9,
			"every query has the value %.4f: %+v", r.Default, f)
	}
}

func TestSettingsAreTriedOnce(t *testing.T) {
	p := hill(0.05, 0.1)
	inner, seen := p.Values, map[string]bool{}
	p.Values = func(ctx context.Context, set map[string]string) ([]float64, error) {
		key := fmt.Sprint(set)
		check.That(t, !seen[key] && set["a"] != "0.5" && set["b"] != "60", "%v again, or a default that is set", set)
		seen[key] = true
		return inner(ctx, set)
	}
	tried := 0
	p.Progress = func(n int) { tried = n }
	r, err := tune.Search(context.Background(), p)
	check.That(t, err == nil && r.Tried == len(seen) && tried == len(seen), "%+v, %v, %d", r, err, tried)
}

func TestFaults(t *testing.T) {
	ctx := context.Background()
	one, few := hill(0, 0), hill(0, 0)
	one.Folds, few.Weights = 1, few.Weights[:9]
	check.Is(t, must.Err(tune.Search(ctx, one)), sheaf.ErrInvalid, "one fold")
	check.Is(t, must.Err(tune.Search(ctx, few)), sheaf.ErrInvalid, "few queries")
	p := hill(0, 0)
	wrong := errors.New("broken")
	p.Values = func(context.Context, map[string]string) ([]float64, error) { return nil, wrong }
	check.Is(t, must.Err(tune.Search(ctx, p)), wrong, "a search that fails")
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	check.Is(t, must.Err(tune.Search(canceled, hill(0, 0))), context.Canceled, "a search that is canceled")
}
