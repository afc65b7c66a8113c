package confidence

import (
	"fmt"
	"math"
	"slices"

	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/eval/knownitem"
	"sheaf/search"
)

// Average is what holds for the answers of several collections together, which is
// what a collection starts with that nothing was learned from.
type Average struct {
	Profile string             `json:"profile"`
	Fit     calibrate.Logistic `json:"fit"`
	// Rule tells the questions of which a right answer was found from those that
	// speak of what the documents do not.
	Rule search.Rule `json:"rule"`
	// Collections are in the order in which they were given.
	Collections []Member `json:"collections"`
}

// Member is one of the collections.
type Member struct {
	// Error is the calibration error of the fit of the other collections on the
	// first answers of this one, in ten bins.
	Error float64 `json:"error"`
	// Found and Foreign are as in Report, by the rule of the other collections.
	Found   Answerable `json:"found"`
	Foreign Answerable `json:"foreign"`
}

// Together fits the answers of several collections, two at least, as Calibrate fits
// those of one, and every collection is judged by the fit of the others. Fewer, or
// of different profiles, are sheaf.ErrInvalid.
func Together(all []*Answers) (*Average, error) {
	if len(all) < 2 {
		return nil, sheaf.Invalidf("%d collection: at least two are needed to see what holds for those that were not learned from", len(all))
	}
	a := &Average{Profile: all[0].profile.Name}
	for i, one := range all {
		if one.profile.Digest() != all[0].profile.Digest() {
			return nil, sheaf.Invalidf("profiles %s and %s: what speaks for answers differs", a.Profile, one.profile.Name)
		}
		others := slices.Delete(slices.Clone(all), i, i+1)
		fit, err := fitAll(others)
		if err != nil {
			return nil, err
		}
		m := Member{}
		var p []float64
		var right []bool
		for j := range one.samples {
			if x := &one.samples[j]; x.first {
				p, right = append(p, x.evidence.Confidence(&fit, true)), append(right, x.right)
			}
		}
		m.Error = calibrate.Error(calibrate.Reliability(p, right, bins))
		rule := ruleOf(others)
		m.Found, m.Foreign = one.count(func(e search.Evidence) bool { return e.Named > 0 || e.Holds > 0 || rule.Holds(e) })
		a.Collections = append(a.Collections, m)
	}
	var err error
	if a.Fit, err = fitAll(all); err != nil {
		return nil, err
	}
	a.Rule = ruleOf(all)
	return a, nil
}

func fitAll(all []*Answers) (calibrate.Logistic, error) {
	var samples []sample
	for _, one := range all {
		samples = append(samples, one.samples...)
	}
	n := rightOf(samples, indexes(samples))
	if n < minEach || len(samples)-n < minEach {
		return calibrate.Logistic{}, sheaf.Invalidf("%d answers are right and %d are wrong, and at least %d of each are needed to learn which are which", n, len(samples)-n, minEach)
	}
	return fitOf(samples, indexes(samples)), nil
}

func indexes(samples []sample) []int {
	all := make([]int, len(samples))
	for i := range all {
		all[i] = i
	}
	return all
}

// tried is a first answer whose evidence decides alone, and what it counts.
type tried struct {
	words, meaning, cost float64
	answered             bool
}

// chance is how much less a rule may err in the mean of the collections without
// being called better: less than one of sixty questions of other subjects.
const chance = 0.01

// ruleOf is the rule that errs least: the share of questions that it misses, and of
// foreign ones that it takes, in the mean of the collections. Questions are made of
// the documents' own words, where people use others: of rules that differ by chance
// it is the one in which meaning counts most. It is searched on a grid; of equally
// good ones the first stays.
func ruleOf(all []*Answers) search.Rule {
	var firsts []tried
	for _, one := range all {
		found, foreign := one.deciding()
		for _, e := range found {
			firsts = append(firsts, tried{min(e.Words, 1), e.Meaning, 1 / float64(len(found)), true})
		}
		for _, e := range foreign {
			firsts = append(firsts, tried{min(e.Words, 1), e.Meaning, 1 / float64(len(foreign)), false})
		}
	}
	var rules []search.Rule // the best of every cosine that is enough alone
	var costs []float64
	for alone := 40; alone <= 80; alone++ {
		best, least := search.Rule{}, math.Inf(1)
		for share := 0; share <= 20; share++ {
			for both := 20; both <= 80; both++ {
				r := search.Rule{Share: float64(share) / 20, Both: float64(both) / 100, Alone: float64(alone) / 100}
				if cost := costOf(r, firsts); cost < least {
					best, least = r, cost
				}
			}
		}
		rules, costs = append(rules, best), append(costs, least)
	}
	enough := slices.Min(costs) + chance*float64(len(all))
	return rules[slices.IndexFunc(costs, func(c float64) bool { return c <= enough })]
}

func costOf(r search.Rule, firsts []tried) float64 {
	cost := 0.0
	for i := range firsts {
		if x := &firsts[i]; r.Holds(search.Evidence{Words: x.words, Meaning: x.meaning}) != x.answered {
			cost += x.cost
		}
	}
	return cost
}

// deciding are the first answers to questions of which a right answer was found,
// and to foreign ones, but those whose name or rare words decide.
func (a *Answers) deciding() (found, foreign []search.Evidence) {
	right := a.right()
	for i := range a.samples {
		x := &a.samples[i]
		switch {
		case !x.first || x.evidence.Named > 0 || x.evidence.Holds > 0:
		case right[x.query]:
			found = append(found, x.evidence)
		case a.items[x.query].Kind == knownitem.Foreign:
			foreign = append(foreign, x.evidence)
		}
	}
	return found, foreign
}

// String is the rule and the fit as the program holds them.
func (a *Average) String() string {
	return fmt.Sprintf("bias %.2f, weights %.2f; answerable: share %.2f, both %.2f, alone %.2f", a.Fit.Bias, a.Fit.Weights, a.Rule.Share, a.Rule.Both, a.Rule.Alone)
}
