package search

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"sheaf"
	"sheaf/eval/calibrate"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/text/analysis"
)

// Evidence has the numbers from which the confidence in a result is computed.
type Evidence struct {
	// Score is the score of the hit.
	Score float64 `json:"score"`
	// Words is the BM25 score of the hit divided by the sum of the words' idf. It is 0 if no word matches, and about 1 if
	// all words match well.
	Words float64 `json:"words"`
	// Meaning is the best cosine of a passage, or 0 when meaning was not searched.
	Meaning float64 `json:"meaning"`
	// Lead is the best score of the hit's document minus the best score of any other document. It is negative
	// when another document is better, and 0.2 when there is no other document.
	Lead float64 `json:"lead"`
	// Length is the number of words of the query.
	Length int `json:"length"`
	// Unseen is the share, 0..1, of the query's idf that belongs to words that no chunk has. Numbers is the share of such
	// words that have a digit. It counts a word with all its parts, even parts that chunks have.
	Unseen  float64 `json:"unseen"`
	Numbers float64 `json:"numbers"`
	// Foreign says that the query has unseen words and another language than the collection. Only numbers then count as
	// unseen, so Unseen equals Numbers.
	Foreign bool `json:"foreign,omitempty"`
}

// Features returns the evidence as numbers for [Calibration].
func (e *Evidence) Features() []float64 {
	lead := max(-1, min(1, e.Lead))
	return []float64{min(e.Score, 1.5), min(e.Words, 1), e.Meaning, math.Sqrt(max(lead, 0)), math.Sqrt(max(-lead, 0)),
		math.Log1p(float64(e.Length)) / 2, e.Unseen}
}

const featureCount = 7

// Calibration turns evidence into probabilities.
type Calibration struct {
	Right    calibrate.Logistic `json:"right"`    // the probability that a result is right, from its evidence
	Answered calibrate.Logistic `json:"answered"` // the probability that the query has an answer, from its first result
	Least    float64            `json:"least"`    // the smallest probability at which a query counts as answerable
}

// Valid reports whether c has one weight for each feature of this program.
func (c *Calibration) Valid() bool {
	return len(c.Right.Weights) == featureCount && len(c.Answered.Weights) == featureCount && c.Least >= 0 && c.Least <= 1
}

// unseenNumber is a share of the query's idf. If words with a digit that no chunk has make up this share or more, the
// query is not answerable. For example, ticket 4713 does not answer "ticket 4712".
const unseenNumber = 1.0 / 4

// unseenLimit is the largest confidence in a result if the query has a number that no chunk has.
const unseenLimit = 0.5

// Answerable reports whether a query has an answer, judged by the evidence of its first result. A query in another
// language than the collection counts as answerable, because its words give too little evidence.
func (c *Calibration) Answerable(first *Evidence) bool {
	if first.Numbers > 0 && first.Numbers >= unseenNumber*(1-first.Unseen+first.Numbers) {
		return false
	}
	return first.Foreign || c.Answered.At(first.Features()...) >= c.Least
}

// unanswerableLimit is the largest confidence in a result of a query that is not answerable.
const unanswerableLimit = 0.25

// Confidence returns the probability, 0..1, that a result is right. answerable is the result of Answerable.
func (c *Calibration) Confidence(e *Evidence, answerable bool) float64 {
	p := c.Right.At(e.Features()...)
	switch {
	case !answerable:
		p = min(p, unanswerableLimit)
	case e.Numbers > 0:
		p = min(p, unseenLimit)
	}
	return p
}

// Level is a confidence in one word: high, medium, low or none.
type Level string

// These are the levels of confidence.
const (
	High   Level = "high"   // 0.85 to 1
	Medium Level = "medium" // 0.60 to 0.85
	Low    Level = "low"    // 0.30 to 0.60
	None   Level = "none"   // below 0.30
)

// LevelOf returns the level of a confidence within 0..1.
func LevelOf(confidence float64) Level {
	switch {
	case confidence >= 0.85:
		return High
	case confidence >= 0.60:
		return Medium
	case confidence >= 0.30:
		return Low
	}
	return None
}

// ShippedCalibration returns the calibration of the default profile with the built-in model, or nil
// for another profile or model. A changed default profile has no calibration. Callers share the result
// and must not change it. eval/confidence fitted it; doc/quality.md names the command and the folders.
func ShippedCalibration(p *profile.Profile, model string) *Calibration {
	if !slices.Contains(calibrated, model) || !p.IsDefault() {
		return nil
	}
	return &shipped
}

// calibrated lists the versions of the built-in model that the calibration fits. These versions give English texts
// equal vectors.
var calibrated = []string{"sheaf-en-1", "sheaf-ml-1"}

var shipped = Calibration{
	Right:    calibrate.Logistic{Bias: -2.91, Weights: []float64{1.44, -0.79, 1.37, 4.73, -2.58, 0.66, -2.09}},
	Answered: calibrate.Logistic{Bias: -7.56, Weights: []float64{9.22, 2.01, 3.73, 1.95, 0, 0.60, -0.77}},
	Least:    0.10,
}

// judgingInput is what a search collects to compute the confidence in its results.
type judgingInput struct {
	text   []bool    // for each leg, whether the leg searches words
	ideals []float64 // for each leg, the score of a perfect hit: see run.ideals
	// scores has the best score of each document before a stage drops hits. It is nil before the method compare ran. docs
	// are these documents, best first.
	scores  map[sheaf.ID]float64
	docs    []sheaf.ID
	unseen  float64
	numbers float64
	foreign bool // see Evidence.Foreign
}

// learn stores what the method judge needs from the fusion of the main phase.
func (r *run) learn(ctx context.Context, fusion rank.Fusion, outcomes []outcome) error {
	if r.confidence == nil && !r.opt.Evidence {
		return nil
	}
	j := &judgingInput{}
	for i := range outcomes {
		j.text = append(j.text, outcomes[i].request.Text != nil)
	}
	w, err := r.worthInTime(ctx)
	if err != nil {
		return err
	}
	if s, ok := fusion.(rank.Scores); ok && s.Ideals != nil {
		j.ideals = s.Ideals
	} else if j.ideals, err = r.ideals(ctx, outcomes); err != nil {
		return err
	}
	if w != nil && w.sum > 0 {
		for _, p := range w.parts {
			number := strings.ContainsFunc(p.text, unicode.IsDigit)
			if p.chunks > 0 || w.inVersion(p.text) || r.stats.isCompound(p.text) && !(number && r.lacksNumber(w, p.text)) {
				continue // the parts of a compound are counted separately
			}
			j.unseen += p.worth / w.sum
			if number {
				j.numbers += r.withParts(w, p) / w.sum
			}
		}
	}
	if j.unseen > 0 && r.vector != nil && r.searcher.isForeign(meaning(r.query)) {
		j.unseen, j.foreign = j.numbers, true
	}
	r.judged = j
	return nil
}

// inVersion reports whether word is in a version that the query and chunks have. For example, v1.2.4 and v1 are in
// 1.2.4, but v1.2 is not in 1.24. A "v" at the start of word does not count.
func (w *idfWorth) inVersion(word string) bool {
	number := "." + strings.TrimLeft(word, "vV") + "."
	return slices.ContainsFunc(w.parts, func(p partWorth) bool {
		return p.chunks > 0 && strings.Contains("."+p.text+".", number)
	})
}

// lacksNumber reports whether compound, a word that no chunk has, contains a number that no chunk has. A compound
// without letters, like 2.3.1, is itself such a number. INV-4712 contains one if no chunk has 4712.
func (r *run) lacksNumber(w *idfWorth, compound string) bool {
	if !strings.ContainsFunc(compound, unicode.IsLetter) {
		return true
	}
	for _, t := range r.searcher.Analyzer.QueryTokens(compound) {
		text := compound[t.Start:t.End]
		if text == compound || !strings.ContainsFunc(text, unicode.IsDigit) {
			continue
		}
		if slices.ContainsFunc(w.parts, func(p partWorth) bool { return p.text == text && p.chunks == 0 }) {
			return true
		}
	}
	return false
}

// withParts returns the worth of a word that no chunk has, plus the worth of its parts that chunks have. For example,
// 978-3-16-148410-1 counts as one number with all its parts.
func (r *run) withParts(w *idfWorth, word partWorth) float64 {
	sum := word.worth
	for _, p := range w.parts {
		if p.chunks > 0 && p.text != word.text && slices.ContainsFunc(r.searcher.Analyzer.QueryTokens(word.text),
			func(t analysis.Token) bool { return word.text[t.Start:t.End] == p.text }) {
			sum += p.worth
		}
	}
	return sum
}

// compare stores the best score of each document in the ranking. Only the first call has an effect.
func (j *judgingInput) compare(facts rank.Facts, ranking sheaf.Ranking) {
	if j.scores != nil {
		return
	}
	j.scores = make(map[sheaf.ID]float64, len(ranking))
	for i := range ranking {
		n := facts.Node(ranking[i].ID)
		if n == nil {
			continue
		}
		if _, known := j.scores[n.Doc]; !known {
			j.scores[n.Doc], j.docs = ranking[i].Score, append(j.docs, n.Doc)
		}
	}
}

// legs raises e.Meaning and e.Words to the best scores in legs, the legs of a hit.
func (j *judgingInput) legs(e *Evidence, legs []sheaf.Leg) {
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

// usualLead is the value of Evidence.Lead if there is no other document to compare with.
const usualLead = 0.2

// evidence returns the evidence for a hit of a document. length is the number of content words in the query.
func (r *run) evidence(h *sheaf.Hit, doc sheaf.ID, length int) Evidence {
	j := r.judged
	e := Evidence{
		Score: h.Score, Lead: usualLead, Length: length, Unseen: j.unseen, Numbers: j.numbers, Foreign: j.foreign,
	}
	j.legs(&e, h.Legs)
	for i := range h.Constituents {
		j.legs(&e, h.Constituents[i].Legs)
	}
	if len(j.docs) > 1 {
		other := j.docs[0]
		if other == doc {
			other = j.docs[1]
		}
		e.Lead = j.scores[doc] - j.scores[other]
	}
	return e
}

// judge sets the evidence and the confidence of the hits, and decides whether the query is answerable. It does nothing
// for results in the order of a column.
func (r *run) judge(ranking sheaf.Ranking) {
	if r.opt.Order != nil {
		return
	}
	if r.confidence != nil {
		r.result.Answerable = new(bool)
	}
	if r.judged == nil {
		return
	}
	length := 0
	if r.searcher.Analyzer != nil {
		length = len(r.stats.tellingWords(meaning(r.query)))
	}
	r.judged.compare(r.facts, ranking)
	answerable := false
	for i := range r.result.Hits {
		hit := &r.result.Hits[i]
		e := r.evidence(&ranking[i], hit.Doc, length)
		hit.Evidence = &e
		if r.confidence == nil {
			continue
		}
		if i == 0 {
			answerable = r.confidence.Answerable(&e) || e.Words > 0 && (r.holdsOneWord() || r.holdsAlternative())
			if r.result.Answerable = &answerable; answerable && e.Foreign {
				r.result.Answerable = nil // unknown
			}
		}
		confidence := r.confidence.Confidence(&e, answerable)
		hit.Confidence, hit.Level = &confidence, LevelOf(confidence)
	}
}

// holdsOneWord reports whether the query is one word that the collection has. Such a query has an answer despite weak
// evidence, for example a rare code in a long text.
func (r *run) holdsOneWord() bool {
	unseen := func(p partWorth) bool { return p.chunks == 0 && p.worth > 0 }
	if r.stats.words == nil || len(r.stats.words.parts) == 0 || len(strings.Fields(meaning(r.query))) != 1 {
		return false
	}
	return !slices.ContainsFunc(r.stats.words.parts, unseen)
}

// holdsAlternative reports whether the collection has every word of one alternative of a query like "a OR b". A result
// for one alternative is an answer. If the store cannot count, all words count as present.
func (r *run) holdsAlternative() bool {
	held := map[string]bool{}
	if r.stats.words != nil {
		for _, p := range r.stats.words.parts {
			held[p.text] = p.chunks > 0
		}
	}
	missing := func(p partWorth) bool { return r.stats.words != nil && !held[p.text] }
	any, ok := r.asked.Words.(sheaf.Bool)
	if !ok || len(any.Must) > 0 || len(any.Should) < 2 {
		return false
	}
	for _, part := range any.Should {
		list := queryParts{stats: &r.stats}
		list.add(part)
		if len(list.parts) > 0 && !slices.ContainsFunc(list.parts, missing) {
			return true
		}
	}
	return false
}
