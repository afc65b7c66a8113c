package confidence

import (
	"cmp"
	"slices"

	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/eval/self"
	"sheaf/search"
)

const (
	// A fit needs at least minEach right results, and as many wrong results. It also needs minEach questions with a right
	// result, and minEach questions without an answer. With fewer, Fit returns sheaf.ErrInvalid.
	minEach = 8
	// unanswerableWeight is the weight of a question without an answer, for fitting the probability that a result is
	// right. It is low, because most questions of users have an answer.
	unanswerableWeight = 0.1
	// foundShare is the share of the questions with a right result that a calibration must call answerable.
	foundShare = 0.97
)

// rows are the samples to which a logistic map is fitted.
type rows struct {
	features [][]float64
	right    []bool
	weights  []float64
}

func (r *rows) add(e *search.Evidence, right bool, weight float64) {
	r.features, r.right, r.weights = append(r.features, e.Features()), append(r.right, right), append(r.weights, weight)
}

// fit fits a logistic map to the samples. Before that, it scales the sample weights to mean 1.
func (r *rows) fit() calibrate.Logistic {
	sum := 0.0
	for _, w := range r.weights {
		sum += w
	}
	for i := range r.weights {
		r.weights[i] *= float64(len(r.weights)) / sum
	}
	return calibrate.FitLogistic(r.features, r.right, r.weights)
}

func (r *rows) kinds() (right, wrong int) {
	for _, is := range r.right {
		if is {
			right++
		}
	}
	return right, len(r.right) - right
}

// Fit fits a calibration to the answers of several collections. Each collection has the same weight. If there are too
// few answers, Fit returns sheaf.ErrInvalid.
func Fit(all []*Answers) (*search.Calibration, error) {
	var right, answered rows
	for _, a := range all {
		var real, none []int
		results, found := 0, 0
		for q := range a.questions {
			switch {
			case len(a.results[q]) == 0:
			case a.questions[q].Right == nil:
				none = append(none, q)
			default:
				real = append(real, q)
				results += len(a.results[q])
				if a.anyRight(q) {
					found++
				}
			}
		}
		for _, q := range real {
			for k := range a.results[q] {
				right.add(&a.results[q][k].evidence, a.results[q][k].right, 1/float64(results))
			}
			if a.anyRight(q) {
				answered.add(&a.results[q][0].evidence, true, 1/float64(found))
			}
		}
		for _, q := range none {
			right.add(&a.results[q][0].evidence, false, unanswerableWeight/float64(len(none)))
			answered.add(&a.results[q][0].evidence, false, 1/float64(len(none)))
		}
	}
	good, bad := right.kinds()
	found, none := answered.kinds()
	if min(good, bad, found, none) < minEach {
		return nil, sheaf.Invalidf("%d results are right, %d are wrong, and %d questions have no answer; at least %d of "+
			"each are needed to learn which are which: ask more questions",
			good, bad, none, minEach)
	}
	c := &search.Calibration{Right: right.fit(), Answered: answered.fit()}
	c.Least = leastProbability(all, c)
	return c, nil
}

// leastProbability returns the threshold from which a question counts as answerable. It is the largest threshold at
// which foundShare of the questions with a right result count as answerable. Each collection has the same weight.
func leastProbability(all []*Answers, c *search.Calibration) float64 {
	type question struct{ p, weight float64 }
	var found []question
	sum := 0.0
	for _, a := range all {
		from := len(found)
		for q := range a.questions {
			if a.questions[q].Right != nil && a.anyRight(q) {
				found = append(found, question{p: c.Answered.At(a.results[q][0].evidence.Features()...)})
			}
		}
		for i := from; i < len(found); i++ {
			found[i].weight = 1 / float64(len(found)-from)
			sum += found[i].weight
		}
	}
	slices.SortFunc(found, func(a, b question) int { return cmp.Compare(a.p, b.p) })
	below := 0.0
	for _, f := range found {
		if below += f.weight; below > (1-foundShare)*sum {
			return f.p
		}
	}
	return 0
}

// LeaveOneOut judges each collection with a calibration that is fitted to the other collections. The fit omits
// collections that share documents with the judged collection, as the function same reports. LeaveOneOut also returns a
// calibration that is fitted to all collections. For fewer than two collections, and for different profiles,
// LeaveOneOut returns sheaf.ErrInvalid.
func LeaveOneOut(all []*Answers, same func(i, j int) bool) ([]Quality, *search.Calibration, error) {
	if len(all) < 2 {
		return nil, nil, sheaf.Invalidf("%d collection: at least two are needed to judge one by the others", len(all))
	}
	var out []Quality
	for i, a := range all {
		if a.profile.Digest() != all[0].profile.Digest() {
			return nil, nil, sheaf.Invalidf("profiles %s and %s: their evidence differs", all[0].profile.Name, a.profile.Name)
		}
		var others []*Answers
		for j := range all {
			if j != i && !same(i, j) {
				others = append(others, all[j])
			}
		}
		if len(others) == 0 {
			return nil, nil, sheaf.Invalidf("collection %d: all others hold the same documents; judge it by others", i+1)
		}
		c, err := Fit(others)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, Judge(a, c))
	}
	c, err := Fit(all)
	return out, c, err
}

// Report compares a calibration that was learned from one folder with the calibration in this program.
type Report struct {
	Profile string             `json:"profile"`           // the name of the ranking profile
	Digest  string             `json:"digest"`            // the digest of what the profile computes
	Fit     search.Calibration `json:"fit"`               // the calibration that was learned
	Learned Quality            `json:"learned"`           // how well learned calibrations hold for unseen questions
	Shipped *Quality           `json:"shipped,omitempty"` // how well the shipped calibration holds for the same questions
}

// Better reports whether the learned calibration has a smaller mean squared error than the calibration in this program.
// If this program has no calibration, it returns true.
func (r *Report) Better() bool { return r.Shipped == nil || r.Learned.Brier < r.Shipped.Brier }

const (
	// minQuestions is the smallest number of questions to learn from. For fewer, Learn returns sheaf.ErrInvalid.
	minQuestions = 40
	// foldCount is the number of folds (groups of questions). Each fold is judged by the fit to the other folds.
	foldCount = 5
)

// Learn fits a calibration to the answers of one folder. The parameter shipped is the calibration in this program, or
// nil. If there are too few questions, Learn returns sheaf.ErrInvalid.
func Learn(a *Answers, shipped *search.Calibration, seed uint64) (*Report, error) {
	n := len(a.questions)
	if n < minQuestions {
		return nil, sheaf.Invalidf("the documents give %d questions, and at least %d are needed to learn from: the folder "+
			"is too small, or its notes have too few headings and links",
			n, minQuestions)
	}
	groups := make([]string, n)
	for i := range groups {
		groups[i] = a.questions[i].Group
	}
	folds := calibrate.Folds(groups, foldCount, seed)
	fits := make([]*search.Calibration, foldCount)
	for fold := range fits {
		others := &Answers{}
		for q, f := range folds {
			if f != fold {
				others.questions, others.results = append(others.questions, a.questions[q]), append(others.results, a.results[q])
			}
		}
		var err error
		if fits[fold], err = Fit([]*Answers{others}); err != nil {
			return nil, err
		}
	}
	fit, err := Fit([]*Answers{a})
	if err != nil {
		return nil, err
	}
	r := &Report{Profile: a.profile.Name, Digest: a.profile.Digest(), Fit: *fit,
		Learned: judge(a, func(q int) *search.Calibration { return fits[folds[q]] })}
	if shipped != nil {
		q := Judge(a, shipped)
		r.Shipped = &q
	}
	return r, nil
}

// KnownItems converts queries of package self to questions. A hit is right if it is in the query's document.
func KnownItems(items []self.Item) []Question {
	questions := make([]Question, len(items))
	for i := range items {
		item := &items[i]
		questions[i] = Question{Text: item.Text, Filter: item.Filter(), Group: string(item.Doc)}
		if !item.Kind.Impossible() {
			questions[i].Right = func(h *search.Hit) bool { return h.Doc == item.Doc }
		}
	}
	return questions
}
