// Package tune finds the best parameters of a ranking and checks that the gain is more than luck. It searches parameter
// by parameter on a part of the queries and judges the result on the rest. So parameters do not win if they fit only
// the queries that chose them.
//
// It does not know profiles or documents. The caller gives a function from settings to the value of every query.
package tune

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/eval/stats"
)

// Parameter is a number or a word that a search may change.
type Parameter struct {
	Name string
	// Values are the values to try, including the default. Default is the value in use now.
	Values  []string
	Default string
}

// Problem says what a search should improve.
type Problem struct {
	Parameters []Parameter
	// Values returns the value of every query for the settings in set. Larger is better. A parameter that is not in set
	// has its default. Search calls Values only once for the same settings.
	Values func(ctx context.Context, set map[string]string) ([]float64, error)
	// Weights has the weight of each query; the mean weight is 1. Values must multiply its results by these weights.
	Weights []float64
	Folds   int    // parts of the queries, each held out once; at least 2
	Seed    uint64 // of the folds and the statistics
	// Search calls Progress with the number of settings tried so far. Progress may be nil.
	Progress func(tried int)
}

// Result is the result of [Search]. Its JSON is the format sheaf.tune/1.
type Result struct {
	Set     map[string]string `json:"set"`     // the parameters to change; empty if the defaults are best
	Default float64           `json:"default"` // the mean for the defaults
	// Fitted is the mean for the changed parameters. It is too high, because the same queries chose the parameters.
	Fitted float64 `json:"fitted"`
	// HeldOut is the mean to expect. It measures each query with the parameters that the queries of other folds chose.
	HeldOut    float64        `json:"held_out"`
	Difference float64        `json:"difference"` // the expected mean minus the mean for the defaults
	Range      stats.Interval `json:"interval"`   // the confidence interval of the difference
	P          float64        `json:"p"`          // the p of the paired randomization test
	// Better is whether the changed parameters beat the defaults by more than chance.
	Better  bool   `json:"better"`
	Folds   []Fold `json:"folds"`   // the parameters that were chosen without each fold
	Tried   int    `json:"tried"`   // how many different settings were tried
	Queries int    `json:"queries"` // how many queries were asked
	Verdict string `json:"verdict"` // the result in words
}

// Fold has the settings that were chosen without the queries of one fold.
type Fold struct {
	Set     map[string]string `json:"set"`      // the chosen parameters
	Chosen  float64           `json:"chosen"`   // the mean of the chosen parameters outside the fold
	HeldOut float64           `json:"held_out"` // the mean of the chosen parameters on the fold
	Default float64           `json:"default"`  // the mean of the defaults on the fold
}

const (
	significance = 0.05
	maxPasses    = 4
	// leastGain is the smallest gain of the mean for which a search changes a parameter. A smaller one may be a
	// rounding error.
	leastGain = 1e-9
)

// Search finds the best settings. It starts with the defaults and sets one parameter at a time to its best value. It
// stops when no change helps, or after maxPasses passes over the parameters. If two values are equally good, the value
// that it tried first stays. Search does this once for each fold, on the queries of the other folds, and once on all
// queries. It returns sheaf.ErrInvalid for fewer than two folds, or fewer than two queries for each fold.
func Search(ctx context.Context, p Problem) (*Result, error) {
	queries := len(p.Weights)
	switch {
	case p.Folds < 2:
		return nil, sheaf.Invalidf("tune: %d folds: must be at least 2", p.Folds)
	case queries < 2*p.Folds:
		return nil, sheaf.Invalidf("tune: %d queries are too few for %d folds: at least %d are needed", queries, p.Folds,
			2*p.Folds)
	}
	s := &searcher{Problem: p, ctx: ctx, known: map[string][]float64{}}
	defaults, err := s.values(map[string]string{})
	if err != nil {
		return nil, err
	}
	folds := calibrate.Folds(make([]string, queries), p.Folds, p.Seed)
	r := &Result{Queries: queries, Default: stats.Mean(defaults)}
	heldOut := make([]float64, queries)
	for fold := range p.Folds {
		f, err := s.fold(fold, folds, defaults, heldOut)
		if err != nil {
			return nil, err
		}
		r.Folds = append(r.Folds, f)
	}
	if r.Set, r.Fitted, err = s.climb(func(int) bool { return true }); err != nil {
		return nil, err
	}
	r.HeldOut, r.Tried = stats.Mean(heldOut), len(s.known)
	d := stats.Differences(heldOut, defaults)
	r.Difference, r.Range = stats.Mean(d), stats.Bootstrap(d, p.Seed)
	r.P = stats.Randomization(heldOut, defaults, p.Seed)
	r.Better = r.Difference > 0 && r.P < significance && len(r.Set) > 0
	r.Verdict = r.verdict()
	return r, nil
}

type searcher struct {
	Problem
	ctx   context.Context
	known map[string][]float64
}

// fold chooses settings by the queries of all other folds. folds[i] is the fold of query i, and defaults[i] is the
// query's value for the defaults. For each query i in this fold, the method sets heldOut[i] to the value for the chosen
// settings.
func (s *searcher) fold(fold int, folds []int, defaults, heldOut []float64) (Fold, error) {
	set, chosen, err := s.climb(func(i int) bool { return folds[i] != fold })
	if err != nil {
		return Fold{}, err
	}
	values, err := s.values(set)
	if err != nil {
		return Fold{}, err
	}
	held := func(i int) bool { return folds[i] == fold }
	for i := range values {
		if held(i) {
			heldOut[i] = values[i]
		}
	}
	return Fold{Set: set, Chosen: chosen, HeldOut: s.meanOf(values, held), Default: s.meanOf(defaults, held)}, nil
}

// climb changes one parameter at a time, as long as the mean over the queries grows. Query i counts if in(i) is true.
// climb returns the changed parameters, and the mean for these parameters. err is an error of Problem.Values.
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
				if m > mean+leastGain {
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

// meanOf returns the weighted mean over the queries for which in is true.
func (s *searcher) meanOf(values []float64, in func(i int) bool) float64 {
	n, sum := 0.0, 0.0
	for i, v := range values {
		if in(i) {
			n, sum = n+s.Weights[i], sum+v
		}
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
	s.known[key] = v
	if s.Progress != nil {
		s.Progress(len(s.known))
	}
	return v, nil
}

// Describe writes settings sorted by name, for example "k 60, meaning 0.3". Without settings it returns "the defaults".
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
