// Package tune finds the best parameters of a ranking and checks that the gain is more than luck.
// It searches parameter by parameter on a part of the queries and judges the result on the rest. So
// numbers that fit only the queries that they were chosen on do not count.
//
// It does not know profiles or documents: it searches a function from settings to the value of every query.
package tune

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheaf"
	"sheaf/eval"
	"sheaf/eval/calibrate"
	"sheaf/eval/stats"
)

// Parameter is a number or a word that may be changed.
type Parameter struct {
	Name string
	// Values are the values to try, with the default. Default is the current value.
	Values  []string
	Default string
}

// Problem is the function to search.
type Problem struct {
	Parameters []Parameter
	// Queries is the number of queries.
	Queries int
	// Values returns the value of every query, larger is better, for some settings. A parameter
	// that is not set has its default. Search calls it once for the same settings.
	Values func(ctx context.Context, set map[string]string) ([]float64, error)
	// Weights say how much each query counts, 1 on average. Values already includes them. nil
	// counts all queries the same.
	Weights []float64
}

// Options say how to search.
type Options struct {
	Folds      int // at least 2
	Statistics eval.Statistics
	// Progress gets the number of tried settings. It may be nil.
	Progress func(tried int)
}

// Result is the result of a search. Its JSON is the format sheaf.tune/1.
type Result struct {
	// Set are the changed parameters, chosen on all queries. It is empty when the defaults are best.
	Set map[string]string `json:"set"`
	// Default is the mean value of the defaults. Fitted is the mean value of Set on the queries that it was chosen
	// on, which is too optimistic. HeldOut is the mean value of settings chosen on other folds, the value to expect.
	Default float64 `json:"default"`
	Fitted  float64 `json:"fitted"`
	HeldOut float64 `json:"held_out"`
	// Difference is HeldOut - Default with its interval. P is the P of the paired randomization test.
	Difference float64        `json:"difference"`
	Range      stats.Interval `json:"interval"`
	P          float64        `json:"p"`
	// Better says that the difference is more than chance.
	Better bool `json:"better"`
	// Folds are the settings chosen when each fold was held out.
	Folds []Fold `json:"folds"`
	// Tried counts distinct settings. Queries counts the queries.
	Tried   int    `json:"tried"`
	Queries int    `json:"queries"`
	Verdict string `json:"verdict"`
}

// Fold is the choice without the queries of one fold.
type Fold struct {
	Set map[string]string `json:"set"`
	// Chosen is the mean on the other queries, which decided the choice. HeldOut is its mean on the
	// fold. Default is the mean of the defaults on the fold.
	Chosen  float64 `json:"chosen"`
	HeldOut float64 `json:"held_out"`
	Default float64 `json:"default"`
}

const (
	significance = 0.05
	maxPasses    = 4
	// least is the smallest gain in the mean that changes a parameter. A smaller gain is rounding,
	// and the default is simpler.
	least = 1e-9
)

// Search finds the best settings. It starts at the defaults and repeatedly changes one parameter to
// its best value, until nothing gains. Of equal values the earlier choice stays. It runs without
// each fold in turn, and once on all queries.
func Search(ctx context.Context, p Problem, o Options) (*Result, error) {
	if err := p.check(o); err != nil {
		return nil, err
	}
	s := &searcher{Problem: p, ctx: ctx, known: map[string][]float64{}, progress: o.Progress}
	defaults, err := s.values(map[string]string{})
	if err != nil {
		return nil, err
	}
	folds := calibrate.Folds(p.Queries, o.Folds, nil, o.Statistics.Seed)
	r := &Result{Queries: p.Queries, Default: stats.Mean(defaults)}
	heldOut := make([]float64, p.Queries)
	for fold := range o.Folds {
		f, err := s.fold(fold, folds, defaults, heldOut)
		if err != nil {
			return nil, err
		}
		if f != nil {
			r.Folds = append(r.Folds, *f)
		}
	}
	if r.Set, r.Fitted, err = s.climb(func(int) bool { return true }); err != nil {
		return nil, err
	}
	r.HeldOut, r.Tried = stats.Mean(heldOut), len(s.known)
	d := stats.Differences(heldOut, defaults)
	r.Difference, r.Range = stats.Mean(d), stats.Bootstrap(d, o.Statistics.Confidence, o.Statistics.Rounds,
		o.Statistics.Seed)
	r.P = stats.Randomization(heldOut, defaults, o.Statistics.Rounds, o.Statistics.Seed)
	r.Better = r.Difference > 0 && r.P < significance && len(r.Set) > 0
	r.Verdict = r.verdict()
	return r, nil
}

func (p *Problem) check(o Options) error {
	switch {
	case o.Folds < 2:
		return sheaf.Invalidf("tune: %d folds: must be at least 2", o.Folds)
	case p.Queries < 2*o.Folds:
		return sheaf.Invalidf("tune: %d queries are too few for %d folds: at least %d are needed", p.Queries, o.Folds,
			2*o.Folds)
	case len(p.Parameters) == 0:
		return sheaf.Invalidf("tune: there is no parameter to search")
	}
	for _, param := range p.Parameters {
		if len(param.Values) == 0 {
			return sheaf.Invalidf("tune: parameter %s has no values to try", param.Name)
		}
	}
	return nil
}

type searcher struct {
	Problem
	ctx      context.Context
	known    map[string][]float64
	progress func(int)
}

// fold chooses settings without the queries of one fold, and writes their values on this fold into
// heldOut. It returns nil for an empty fold.
func (s *searcher) fold(fold int, folds []int, defaults, heldOut []float64) (*Fold, error) {
	set, chosen, err := s.climb(func(i int) bool { return folds[i] != fold })
	if err != nil {
		return nil, err
	}
	values, err := s.values(set)
	if err != nil || !slices.Contains(folds, fold) {
		return nil, err
	}
	held := func(i int) bool { return folds[i] == fold }
	for i := range values {
		if held(i) {
			heldOut[i] = values[i]
		}
	}
	return &Fold{Set: set, Chosen: chosen, HeldOut: s.meanOf(values, held), Default: s.meanOf(defaults, held)}, nil
}

// climb changes one parameter at a time while the mean over the included queries grows.
func (s *searcher) climb(in func(i int) bool) (set map[string]string, mean float64, err error) {
	set = map[string]string{}
	if mean, err = s.mean(set, in); err != nil {
		return nil, 0, err
	}
	for range maxPasses {
		changed := false
		for _, p := range s.Parameters {
			best := set
			for _, v := range p.Values {
				next := maps.Clone(set)
				if next[p.Name] = v; v == p.Default {
					delete(next, p.Name)
				}
				m, err := s.mean(next, in)
				if err != nil {
					return nil, 0, err
				}
				if m > mean+least {
					best, mean, changed = next, m, true
				}
			}
			set = best
		}
		if !changed {
			break
		}
	}
	return set, mean, nil
}

func (s *searcher) mean(set map[string]string, in func(i int) bool) (float64, error) {
	values, err := s.values(set)
	if err != nil {
		return 0, err
	}
	return s.meanOf(values, in), nil
}

// meanOf returns the mean over the included queries, or 0 without any.
func (s *searcher) meanOf(values []float64, in func(i int) bool) float64 {
	n, sum := 0.0, 0.0
	for i, v := range values {
		switch {
		case !in(i):
			continue
		case s.Weights == nil:
			n++
		default:
			n += s.Weights[i]
		}
		sum += v
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

func (s *searcher) values(set map[string]string) ([]float64, error) {
	key := Describe(set)
	if v, ok := s.known[key]; ok {
		return v, nil
	}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	v, err := s.Values(s.ctx, set)
	if err != nil {
		return nil, fmt.Errorf("tune: %s: %w", key, err)
	}
	if len(v) != s.Queries {
		return nil, sheaf.Invalidf("tune: %d values for %d queries", len(v), s.Queries)
	}
	s.known[key] = v
	if s.progress != nil {
		s.progress(len(s.known))
	}
	return v, nil
}

// Describe writes settings in order of name, such as "k 60, meaning 0.3", or "the defaults".
func Describe(set map[string]string) string {
	if len(set) == 0 {
		return "the defaults"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, name+" "+set[name])
	}
	return strings.Join(parts, ", ")
}

func (r *Result) verdict() string {
	span := fmt.Sprintf("%+.4f on queries held out, 95 %% interval %+.4f to %+.4f, p %.4f", r.Difference, r.Range.Low,
		r.Range.High, r.P)
	switch {
	case len(r.Set) == 0:
		return "the defaults are best: nothing tried gains on these queries"
	case r.Better:
		return fmt.Sprintf("better: %s (%s)", Describe(r.Set), span)
	default:
		return fmt.Sprintf("no significant difference: keep the simpler one, the defaults (%s: %s)", Describe(r.Set), span)
	}
}
