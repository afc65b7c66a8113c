package search

import (
	"context"
	"maps"
	"math"
	"slices"

	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/profile"
	"sheaf/rank"
)

// Evidence is what speaks for an answer, on scales that do not depend on the
// profile or on how many answers were asked for.
type Evidence struct {
	// Words is what the answer's words are worth, as a share of what the
	// query's are: 0 for none, 1 for all in one field, more in several.
	Words float64 `json:"words"`
	// Meaning is the best cosine of a passage or title, 0 without a model.
	Meaning float64 `json:"meaning"`
	// Lead is how far its document's score is above the best of another one, with
	// what whole documents have, as a share of the best fused score; negative for what is not first. Where no other
	// document was found it is a usual one, since nothing was to choose from.
	Lead float64 `json:"lead"`
	// Known is the share of the query that the model knows, Length the number
	// of its words.
	Known  float64 `json:"known"`
	Length int     `json:"length"`
	// Named is how many of the documents found are called exactly what was
	// asked for, or have such a heading, this one among them; 0 when it is not.
	Named int `json:"named"`
	// Holds is how many of the documents found hold every rare word of a query
	// mainly of such words, this one among them; 0 when it does not.
	Holds int `json:"holds"`
}

// How often first answers were right of which only this was looked at, rounded
// down (doc/quality.md).
const (
	namedRight = 0.95
	holdsRight = 0.8
)

// Confidence is how likely an answer is right, by what was fitted. A first answer
// that is called what was asked for, or holds its rare words, has at least what
// that alone is worth: the other evidence compares it with answers that the same
// words found, and says little where there are few, or where one repeats a word
// that is another's name.
func (e Evidence) Confidence(fit *calibrate.Logistic, first bool) float64 {
	features := e.features()
	c := fit.At(features[:]...)
	if first && e.Named > 0 {
		c = max(c, namedRight/float64(e.Named))
	}
	if first && e.Holds > 0 {
		c = max(c, holdsRight/float64(e.Holds))
	}
	return c
}

// Rule tells by the words and the meaning of a first answer whether it is one.
type Rule struct {
	// Share is how much meaning counts beside words, and Both the least sum of
	// words, 1 at most, and that.
	Share float64 `json:"share"`
	Both  float64 `json:"both"`
	// Alone is the least cosine that is enough by itself.
	Alone float64 `json:"alone"`
}

// Holds reports whether the first answer is one.
func (r Rule) Holds(first Evidence) bool {
	return min(first.Words, 1)+r.Share*first.Meaning >= r.Both || first.Meaning >= r.Alone
}

// usualRule and the numbers of AverageConfidence are what `sheaf eval confidence`
// prints of several public collections of documentation together (doc/quality.md).
var usualRule = Rule{Share: 0.10, Both: 0.40, Alone: 0.50}

// Answers reports whether the first answer to a query of the profile is such as
// queries have that something answers. It says nothing of which answer is meant: of
// several good ones each is unlikely to be, and yet the query is answered. So it
// looks at its words with some of its meaning, and at meaning that is very near; for
// other profiles and models confidence tells it.
func (s *Searcher) Answers(first Evidence, p *profile.Profile, confidence float64) bool {
	switch {
	case first.Named > 0 || first.Holds > 0:
		return true
	case AverageConfidence(p, s.model) != nil:
		return usualRule.Holds(first)
	}
	return LevelOf(confidence) != None
}

// Features are the evidence as numbers for calibrate.Logistic, each about within
// -1..2. Those of a first answer have weights of their own, and the share of words
// counts also up to all of them: a second field that holds them says less than the
// first.
func (e Evidence) Features() []float64 {
	features := e.features()
	return features[:]
}

func (e *Evidence) features() [13]float64 {
	words, lead, first := min(e.Words, 2), max(-1, min(1, e.Lead)), 0.0
	if lead > 0 {
		first = 1
	}
	once, length := min(words, 1), math.Log1p(float64(e.Length))/2
	return [...]float64{words, e.Meaning, lead, e.Known, length, words * e.Meaning, first,
		once, first * once, first * e.Meaning, first * lead, math.Sqrt(max(lead, 0)), first * length}
}

// Level is a confidence in a word.
type Level string

// The levels, and the least confidence of each.
const (
	High   Level = "high"   // 0.75
	Medium Level = "medium" // 0.45
	Low    Level = "low"    // 0.15
	None   Level = "none"
)

// LevelOf is the level of a confidence within 0..1.
func LevelOf(confidence float64) Level {
	switch {
	case confidence >= 0.75:
		return High
	case confidence >= 0.45:
		return Medium
	case confidence >= 0.15:
		return Low
	}
	return None
}

// judged is what the run remembers to judge its answers by.
type judged struct {
	text   []bool    // by leg: whether it searches words
	ideals []float64 // by leg
	// first and second are the two best documents of the fusion, or of the stage
	// that looks at whole documents, scores the best of each document; best is that
	// of the fusion.
	first, second judgedDocument
	scores        []judgedDocument
	best          float64
	found         sheaf.Ranking
}

// judgedDocument is the best hit of a document, nil for none, and its score.
type judgedDocument struct {
	node  *sheaf.Node
	score float64
}

// is reports whether d is the document called doc, of this number, 0 for none.
func (d *judgedDocument) is(doc sheaf.ID, number uint32) bool {
	switch {
	case d.node == nil:
		return false
	case number != 0 && d.node.Number != 0:
		return number == d.node.Number
	}
	return d.node.Doc == doc
}

// score is that of a document; 0 for one of which nothing was found.
func (j *judged) score(doc sheaf.ID, number uint32) float64 {
	for i := range j.scores {
		if d := &j.scores[i]; d.is(doc, number) {
			return d.score
		}
	}
	return 0
}

// learn remembers the fusion of the main phase.
func (r *run) learn(ctx context.Context, ph *profile.Phase, fusion rank.Fusion, outcomes []outcome, ranking sheaf.Ranking) error {
	if r.confidence == nil && !r.opt.Evidence {
		return nil
	}
	j := &r.facts.verdict
	*j = judged{found: ranking, scores: r.facts.judged[:0], text: j.text[:0]}
	if s, ok := fusion.(rank.Scores); ok {
		j.ideals = s.Ideals
	}
	known := j.ideals != nil
	for i := range outcomes {
		isText := outcomes[i].request.Text != nil
		j.text = append(j.text, isText)
		if known {
			continue
		}
		ideal := 0.0
		if isText {
			var err error
			if ideal, err = r.ideal(ctx, &outcomes[i]); err != nil {
				return err
			}
		}
		j.ideals = append(j.ideals, ideal)
	}
	r.judged = j
	if slices.ContainsFunc(ph.Then, func(s profile.Step) bool { _, ok := s.Stage.(rank.Whole); return ok }) {
		// After it documents are compared, by other scores than these.
		if i := slices.IndexFunc(ranking, func(h sheaf.Hit) bool { return r.facts.Node(h.ID) != nil }); i >= 0 {
			j.best = ranking[i].Score
		}
		return nil
	}
	row := rank.NewRow(ranking)
	j.compare(r.facts, row)
	row.Release()
	j.best = j.first.score
	return nil
}

// compare remembers how far documents are apart in a row.
func (j *judged) compare(facts *memo, row *rank.Row) {
	j.scores = slices.Grow(j.scores[:0], row.Len())
	facts.judged = j.scores // which the next search uses again
	row.EachDocument(facts, func(best *sheaf.Node, score float64) { j.scores = append(j.scores, judgedDocument{best, score}) })
	j.first, j.second = judgedDocument{}, judgedDocument{}
	if len(j.scores) > 0 {
		j.first = j.scores[0]
	}
	if len(j.scores) > 1 {
		j.second = j.scores[1]
	}
}

// legs adds what the branches found of a hit to its evidence.
func (j *judged) legs(e *Evidence, legs []sheaf.Leg) {
	for leg, at := range legs {
		if at.Rank == 0 || leg >= len(j.text) {
			continue
		}
		if !j.text[leg] {
			e.Meaning = max(e.Meaning, at.Score)
		} else if j.ideals[leg] > 0 {
			e.Words = max(e.Words, at.Score/j.ideals[leg])
		}
	}
}

// evidence is what speaks for a hit of a document.
func (r *run) evidence(h *sheaf.Hit, doc sheaf.ID, known float64, length int) Evidence {
	e := Evidence{Known: known, Length: length}
	j := r.judged
	j.legs(&e, h.Legs)
	for i := range h.Constituents {
		j.legs(&e, h.Constituents[i].Legs)
	}
	number := uint32(0)
	if n := r.facts.Node(h.ID); n != nil && n.Doc == doc {
		number = n.Number
	}
	other := j.first
	if j.first.is(doc, number) {
		other = j.second
	}
	const usualLead = 0.2
	if j.second.node == nil {
		e.Lead = usualLead
	} else if j.best > 0 {
		e.Lead = (j.score(doc, number) - other.score) / j.best
	}
	return e
}

// AverageConfidence is what holds for the answers of a profile with a model over
// collections in general; nil when that is not known. It was fitted as package
// eval/confidence does, on questions made of several public collections of
// documentation together (doc/quality.md), and is to be replaced by what is learned
// from the collection itself. It goes by what a profile computes: of one that is called
// like the default and changes it, nothing is known. It is shared and must not be changed.
func AverageConfidence(p *profile.Profile, model string) *calibrate.Logistic {
	if model != "sheaf-en-1" || !p.IsDefault() {
		return nil
	}
	return &averageConfidence
}

var averageConfidence = calibrate.Logistic{Bias: -2.52, Weights: []float64{0.43, 1.51, 3.99, 0.12, -0.18, -0.70, 0.47, -0.07, 0.50, -0.32, -0.03, 1.00, -1.36}}

// calibration is what tells how sure the answers of a plan are; nil when that is not
// known, as where a query sets parameters to other values than the profile has.
func (r *run) calibration(plan *profile.Plan) *calibrate.Logistic {
	if r.searcher.Confidence == nil {
		return nil
	}
	if len(r.opt.Parameters) > 0 {
		usual, err := r.profile.PlanFor(plan.Limit, nil, r.asked)
		if err != nil || !maps.Equal(plan.Values, usual.Values) {
			return nil
		}
	}
	return r.searcher.Confidence(r.profile)
}

// judge gives the hits of the result their evidence and confidence, and says
// whether the first of them is such as answers are.
func (r *run) judge(ranking sheaf.Ranking) {
	if r.opt.Order != nil {
		return
	}
	if r.confidence != nil {
		answerable := false
		r.result.Answerable = &answerable
	}
	if r.judged == nil {
		return
	}
	text := meaning(r.query)
	known, length := r.asked.Known, 0
	if r.searcher.Analyzer != nil {
		_, telling := r.tokens(text)
		length = len(telling)
	}
	asked := rank.Called(r.facts, wording(r.query), r.query.Text)
	called, holding := 0, 0 // 0 is not counted yet
	room := r.opt.Room
	room.evidence, room.confidence = cleared(room.evidence, len(ranking)), cleared(room.confidence, len(ranking))
	evidence, confidence := room.evidence, room.confidence
	for i := range r.result.Hits {
		hit, e := &r.result.Hits[i], &evidence[i]
		*e = r.evidence(&ranking[i], hit.Doc, known, length)
		if asked(hit.ID) {
			if called == 0 {
				called = r.documents(asked)
			}
			e.Named = called
		}
		if r.holds != nil && r.holds(hit.ID) {
			if holding == 0 {
				holding = r.documents(r.holds)
			}
			e.Holds = holding
		}
		hit.Evidence = e
		if r.confidence != nil {
			c := e.Confidence(r.confidence, i == 0)
			confidence[i] = c
			hit.Confidence, hit.Level = &confidence[i], LevelOf(c)
			if i == 0 && (r.searcher.Answers(*e, r.profile, c) || e.Words > 0 && alternatives(r.written)) {
				*r.result.Answerable = true
				if hit.Level == None {
					hit.Level = Low
				}
			}
			if !*r.result.Answerable {
				hit.Level = None
			}
		}
	}
}

// alternatives reports whether any one of several things is asked for: what has one
// of them has little of all their words, and is an answer.
func alternatives(q sheaf.TextQuery) bool {
	b, ok := q.(sheaf.Bool)
	return ok && len(b.Must) == 0 && len(b.Should) > 1
}

// documents is how many documents of the fusion have a hit for which is holds; 1
// at least.
func (r *run) documents(is func(sheaf.ID) bool) int {
	docs := map[sheaf.ID]bool{}
	for i := range r.judged.found {
		if id := r.judged.found[i].ID; is(id) {
			if c := r.facts.Node(id); c != nil {
				docs[c.Doc] = true
			}
		}
	}
	return max(1, len(docs))
}
