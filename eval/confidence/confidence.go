// Package confidence learns how sure an answer is. It runs questions with and without an answer, and fits a
// [search.Calibration] to the results' evidence ([search.Evidence]).
//
// [Ask] asks a collection, [Fit] fits a calibration, [Judge] measures it on new answers, [Learn] does all for a folder.
package confidence

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sheaf"
	"sheaf/eval"
	"sheaf/eval/calibrate"
	"sheaf/profile"
	"sheaf/search"
)

// Question is a question for a collection.
type Question struct {
	Text   string
	Filter sheaf.Filter
	// Right reports whether a hit answers the question. It is nil if the documents do not answer the question.
	Right func(h *search.Hit) bool
	// Group names questions that must stay in one fold, such as questions from one document. "" means no group.
	Group string
}

// depth is the largest number of results of each question.
const depth = 5

// Answers has the first results of one collection for each question.
type Answers struct {
	profile   *profile.Profile
	questions []Question
	results   [][]result // by question
}

// result is the evidence of one search result, and whether it is right.
type result struct {
	evidence search.Evidence
	right    bool
}

// Ask searches for all questions and keeps the evidence of the results. s must have no calibration. progress may be
// nil.
func Ask(
	ctx context.Context, s *search.Searcher, p *profile.Profile, questions []Question, progress func(done, all int),
) (*Answers, error) {
	a := &Answers{profile: p, questions: questions, results: make([][]result, len(questions))}
	for i := range questions {
		q := &questions[i]
		found, err := s.Search(ctx, sheaf.Query{Text: q.Text, Words: sheaf.Match{Text: q.Text}, Filter: q.Filter,
			Limit: depth}, p, search.Options{Evidence: true})
		if err != nil {
			return nil, fmt.Errorf("question %q: %w", q.Text, err)
		}
		for k := range found.Hits {
			if h := &found.Hits[k]; h.Evidence != nil {
				a.results[i] = append(a.results[i], result{*h.Evidence, q.Right != nil && q.Right(h)})
			}
		}
		if progress != nil {
			progress(i+1, len(questions))
		}
	}
	return a, nil
}

// anyRight reports whether one of the results of a question is right.
func (a *Answers) anyRight(question int) bool {
	return slices.ContainsFunc(a.results[question], func(r result) bool { return r.right })
}

// Quality says how well the confidence of a calibration fits some answers.
type Quality struct {
	Questions    int             `json:"questions"`     // how many questions have an answer
	Right        int             `json:"right"`         // how many of these questions have a right first result
	First        float64         `json:"first_error"`   // the calibration error (ten bins) of the first results
	Chance       float64         `json:"first_chance"`  // the error of perfect probabilities for as many first results
	FirstFive    float64         `json:"error"`         // the calibration error of the first five results
	Brier        float64         `json:"brier"`         // the mean squared error of the first five results
	Bins         []calibrate.Bin `json:"bins"`          // the ten bins of the first results
	Found        Answerable      `json:"found"`         // the questions with a right result
	Unanswerable Answerable      `json:"unanswerable"`  // the questions that nothing answers
	Refused      int             `json:"refused"`       // how many questions have an answer and are called not answerable
	RefusedRight int             `json:"refused_right"` // how many refused questions have a right first result
}

// Answerable counts questions, and how many of these questions the calibration calls answerable.
type Answerable struct {
	Queries    int `json:"queries"`    // how many questions
	Answerable int `json:"answerable"` // how many of these questions are called answerable
}

func (a *Answerable) add(answerable bool) {
	a.Queries++
	if answerable {
		a.Answerable++
	}
}

const bins = 10

// Judge measures how good a calibration is for these answers.
func Judge(a *Answers, c *search.Calibration) Quality {
	return judge(a, func(int) *search.Calibration { return c })
}

// judge works like Judge, with the calibration that the function calibration returns for a question.
func judge(a *Answers, calibration func(question int) *search.Calibration) Quality {
	q := Quality{}
	var first, all []float64
	var firstRight, allRight []bool
	for i, results := range a.results {
		c := calibration(i)
		answerable := len(results) > 0 && c.Answerable(&results[0].evidence)
		if a.questions[i].Right == nil {
			q.Unanswerable.add(answerable)
			continue
		}
		q.Questions++
		if a.anyRight(i) {
			q.Found.add(answerable)
		}
		if !answerable {
			q.Refused++
		}
		for k := range results {
			p := c.Confidence(&results[k].evidence, answerable)
			all, allRight = append(all, p), append(allRight, results[k].right)
		}
		if len(results) == 0 {
			continue
		}
		p := c.Confidence(&results[0].evidence, answerable)
		first, firstRight = append(first, p), append(firstRight, results[0].right)
		if results[0].right {
			q.Right++
		}
		if !answerable && results[0].right {
			q.RefusedRight++
		}
	}
	q.Bins = calibrate.Reliability(first, firstRight, bins)
	q.First, q.Chance = calibrate.Error(q.Bins), calibrate.Chance(q.Bins)
	q.FirstFive = calibrate.Error(calibrate.Reliability(all, allRight, bins))
	q.Brier = calibrate.Brier(all, allRight)
	return q
}

const (
	// maxJudged limits the judged queries of a data set. maxOthers limits the questions from other data sets.
	maxJudged = 400
	maxOthers = 80
	// otherWords is the smallest number of words of a question from another data set. Shorter questions are not used. A
	// single word, or the name of a page, may have an answer in any data set.
	otherWords = 4
)

// Judged returns questions for collection i: its judged queries, and other collections' queries as questions without an
// answer. It draws both at random, and the same seed gives the same questions. The function same reports whether two
// collections share documents; Judged skips the queries of such collections.
func Judged(all []*eval.Collection, i int, same func(i, j int) bool, seed uint64) []Question {
	random := rand.New(rand.NewPCG(seed, uint64(i)))
	c := all[i]
	var own, others []Question
	for k := range c.Dataset.Queries {
		q := &c.Dataset.Queries[k]
		own = append(own, Question{Text: q.Text, Filter: q.Filter, Right: c.Right(q.ID)})
	}
	for j := range all {
		if j == i || same(i, j) {
			continue
		}
		for k := range all[j].Dataset.Queries {
			if text := all[j].Dataset.Queries[k].Text; len(strings.Fields(text)) >= otherWords {
				others = append(others, Question{Text: text})
			}
		}
	}
	return slices.Concat(draw(random, own, maxJudged), draw(random, others, maxOthers))
}

// draw draws n questions at random. If there are fewer than n, it returns all of them.
func draw(random *rand.Rand, questions []Question, n int) []Question {
	random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	return questions[:min(n, len(questions))]
}

// SameDocuments returns a function that reports whether collections i and j have a document in common.
func SameDocuments(all []*eval.Collection) func(i, j int) bool {
	paths := make([]map[string]bool, len(all))
	for i, c := range all {
		paths[i] = map[string]bool{}
		for _, d := range c.Dataset.Documents {
			paths[i][d.ID] = strings.Contains(d.ID, "/") // plain numbers can be IDs in any collection
		}
	}
	return func(i, j int) bool {
		a, b := all[i].Dataset, all[j].Dataset
		if a.Folder != "" && a.Folder == b.Folder || a.Hash != "" && a.Hash == b.Hash {
			return true
		}
		for id, path := range paths[i] {
			if path && paths[j][id] {
				return true
			}
		}
		return false
	}
}
