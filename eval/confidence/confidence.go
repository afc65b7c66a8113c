// Package confidence answers the question "how sure is an answer?" for one
// collection. It asks the collection questions of which the answers are known,
// and others that nothing answers (package knownitem), looks at what spoke for
// the answers that were right and for those that were wrong (search.Evidence),
// and fits how likely an answer is right. Its main function is [Calibrate].
package confidence

import (
	"context"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/eval/knownitem"
	"sheaf/profile"
	"sheaf/search"
)

// Options say how a collection is asked.
type Options struct {
	Queries knownitem.Options
	// Progress is told how many queries are done; nil is told nothing.
	Progress func(done, all int)
}

// Report is what was fitted, and how well it holds.
type Report struct {
	Profile string `json:"profile"`
	// Digest is that of the profile: what was learned holds for what it computes.
	Digest string             `json:"digest"`
	Fit    calibrate.Logistic `json:"fit"`
	// Queries counts the questions, Impossible those of them that nothing
	// answers, Right those whose first answer was right.
	Queries    int `json:"queries"`
	Impossible int `json:"impossible"`
	Right      int `json:"right"`
	// Error is the expected calibration error of first answers in ten bins,
	// on queries that the fit did not see, and Brier their mean squared
	// error; Bins are those bins.
	Error float64         `json:"error"`
	Brier float64         `json:"brier"`
	Bins  []calibrate.Bin `json:"bins"`
	// Found are the questions of which one of the first answers was right,
	// Foreign those that speak of what the documents do not.
	Found   Answerable `json:"found"`
	Foreign Answerable `json:"foreign"`
}

// Answerable counts questions, and those among them that were called answerable.
type Answerable struct {
	Queries    int `json:"queries"`
	Answerable int `json:"answerable"`
}

func (a *Answerable) add(answerable bool) {
	a.Queries++
	if answerable {
		a.Answerable++
	}
}

const (
	// minQueries and minEach are how many questions a fit needs, and how many
	// right and wrong answers among the first.
	minQueries = 40
	minEach    = 8
	// depth is how many answers of each question are learned from.
	depth = 3
	// foldCount is into how many parts the questions are cut, each of which is
	// judged by what was fitted on the others.
	foldCount = 5
	bins      = 10
	ridge     = 1
)

// sample is one answer.
type sample struct {
	query    int
	first    bool
	right    bool
	group    string // queries of one document stay together
	evidence search.Evidence
	features []float64
}

// Answers are the first answers of a collection to questions of which the right
// answer is known, or that nothing answers.
type Answers struct {
	profile *profile.Profile
	items   []knownitem.Item
	samples []sample
}

// Calibrate asks the collection and fits. s must not have a confidence of its
// own. A collection that gives too few questions, or of which all answers are
// right, is sheaf.ErrInvalid.
func Calibrate(ctx context.Context, s *search.Searcher, source knownitem.Source, p *profile.Profile, o Options) (*Report, error) {
	a, err := Ask(ctx, s, source, p, o)
	if err != nil {
		return nil, err
	}
	r := &Report{Profile: a.profile.Name, Digest: a.profile.Digest(), Queries: len(a.items)}
	for i := range a.items {
		if a.items[i].Kind.Impossible() {
			r.Impossible++
		}
	}
	if err := r.fit(a.samples, o); err != nil {
		return r, err
	}
	r.Found, r.Foreign = a.count(func(e search.Evidence) bool { return s.Answers(e, a.profile, e.Confidence(&r.Fit, true)) })
	return r, nil
}

// Ask asks the collection. s must not have a confidence of its own. A collection
// that gives too few questions is sheaf.ErrInvalid.
func Ask(ctx context.Context, s *search.Searcher, source knownitem.Source, p *profile.Profile, o Options) (*Answers, error) {
	items, err := knownitem.Make(ctx, source, o.Queries)
	if err != nil {
		return nil, err
	}
	if len(items) < minQueries {
		return nil, sheaf.Invalidf("the documents give %d questions, and fewer than %d tell nothing: the collection is too small, or its notes have too few headings and links", len(items), minQueries)
	}
	a := &Answers{profile: p, items: items}
	for i := range items {
		found, err := ask(ctx, s, p, &items[i], i)
		if err != nil {
			return nil, fmt.Errorf("question %q: %w", items[i].Text, err)
		}
		a.samples = append(a.samples, found...)
		if o.Progress != nil {
			o.Progress(i+1, len(items))
		}
	}
	return a, nil
}

// right tells of every question whether a right answer was found.
func (a *Answers) right() []bool {
	right := make([]bool, len(a.items))
	for i := range a.samples {
		right[a.samples[i].query] = right[a.samples[i].query] || a.samples[i].right
	}
	return right
}

// count counts the questions of which the first answer is taken for one: those of
// which a right answer was found, and foreign ones.
func (a *Answers) count(answers func(first search.Evidence) bool) (found, foreign Answerable) {
	answerable := make([]bool, len(a.items))
	for i := range a.samples {
		if x := &a.samples[i]; x.first {
			answerable[x.query] = answers(x.evidence)
		}
	}
	for i, right := range a.right() {
		if right {
			found.add(answerable[i])
		}
		if a.items[i].Kind == knownitem.Foreign {
			foreign.add(answerable[i])
		}
	}
	return found, foreign
}

// ask searches for one item and says what spoke for each of the answers.
func ask(ctx context.Context, s *search.Searcher, p *profile.Profile, item *knownitem.Item, number int) ([]sample, error) {
	q := sheaf.Query{Text: item.Text, Words: sheaf.Match{Text: item.Text}, Filter: item.Filter(), Limit: depth}
	result, err := s.Search(ctx, q, p, search.Options{Evidence: true})
	if err != nil {
		return nil, err
	}
	var out []sample
	group := string(item.Doc)
	if group == "" {
		group = item.ID
	}
	for i := range result.Hits {
		h := &result.Hits[i]
		if h.Evidence == nil {
			continue
		}
		out = append(out, sample{query: number, first: i == 0, right: item.Doc != "" && h.Doc == item.Doc, group: group, evidence: *h.Evidence, features: h.Evidence.Features()})
	}
	return out, nil
}

// fit fits all samples, and judges the first answers by fits that did not see
// their queries.
func (r *Report) fit(samples []sample, o Options) error {
	groups := make([]string, len(samples))
	wrong := 0
	for i := range samples {
		groups[i] = samples[i].group
		switch {
		case samples[i].first && samples[i].right:
			r.Right++
		case samples[i].first:
			wrong++
		}
	}
	if r.Right < minEach || wrong < minEach {
		return sheaf.Invalidf("%d first answers are right and %d are wrong, and at least %d of each are needed to learn which are which: ask more questions", r.Right, wrong, minEach)
	}
	folds := calibrate.Folds(len(samples), foldCount, groups, o.Queries.Seed)
	held := calibrate.HeldOut(folds, func(train []int) func(i int) float64 {
		f := fitOf(samples, train)
		return func(i int) float64 { return samples[i].evidence.Confidence(&f, samples[i].first) }
	})
	var p []float64
	var right []bool
	for i := range samples {
		if samples[i].first {
			p, right = append(p, held[i]), append(right, samples[i].right)
		}
	}
	r.Fit = fitOf(samples, indexes(samples))
	r.Bins = calibrate.Reliability(p, right, bins)
	r.Error, r.Brier = calibrate.Error(r.Bins), calibrate.Brier(p, right)
	return nil
}

// fitOf fits the samples in train. First answers whose name or rare words say how
// sure they are take no part where enough others are left: the fit is asked about
// the others, and these, nearly all of them right, would raise it.
func fitOf(samples []sample, train []int) calibrate.Logistic {
	others := slices.DeleteFunc(slices.Clone(train), func(i int) bool {
		e := &samples[i].evidence
		return samples[i].first && (e.Named > 0 || e.Holds > 0)
	})
	if n := rightOf(samples, others); n >= minEach && len(others)-n >= minEach {
		train = others
	}
	rows, right := make([][]float64, len(train)), make([]bool, len(train))
	for n, i := range train {
		rows[n], right[n] = samples[i].features, samples[i].right
	}
	return calibrate.FitLogistic(rows, right, ridge)
}

// rightOf counts the right ones among some samples.
func rightOf(samples []sample, some []int) int {
	n := 0
	for _, i := range some {
		if samples[i].right {
			n++
		}
	}
	return n
}
