package confidence

import (
	"math/rand/v2"
	"slices"
	"strings"

	"sheaf/eval"
)

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
