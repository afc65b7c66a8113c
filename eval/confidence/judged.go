package confidence

import (
	"math/rand/v2"
	"slices"
	"strings"

	"sheaf/eval"
)

const (
	// maxJudged is how many judged queries of a data set are asked at most, maxOthers how
	// many questions of other data sets.
	maxJudged = 400
	maxOthers = 80
	// otherWords is how many words a question of another data set has at least: one word,
	// or the name of a page, may have an answer anywhere.
	otherWords = 4
)

// Judged are the judged queries of collection i of all, and questions of the others, which
// nothing in it answers. Both are drawn at random, the same for the same seed. same reports
// whether two collections hold the same documents.
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

// draw draws n questions, all when there are not as many.
func draw(random *rand.Rand, questions []Question, n int) []Question {
	random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	return questions[:min(n, len(questions))]
}
