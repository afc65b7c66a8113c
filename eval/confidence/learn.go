package confidence

import (
	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/eval/self"
	"sheaf/search"
)

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
