// Package metric judges rankings by pure functions of a ranking and its judgements: nDCG, AP, RR, P, R, and others.
// Names and values agree with the ir_measures tool (and trec_eval below it) to 1e-6.
package metric

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Judgements has the gain of each judged document for one query. A higher gain is better. A document with a gain of 0
// or less is not relevant. A document that is missing here was not judged.
type Judgements map[string]int

// Measure is one way to judge a ranking.
type Measure struct {
	kind   kind
	cutoff int     // 0: the whole ranking
	rel    int     // smallest gain that counts as relevant
	p      float64 // persistence of RBP
	exp    bool    // gain 2^g-1 instead of g, for nDCG
	judged bool    // only judged documents count
}

type kind uint8

const (
	kindNDCG kind = iota
	kindAP
	kindRR
	kindP
	kindR
	kindSuccess
	kindJudged
	kindRBP
	kindERR
)

// names has the name of each kind, in the order of the kinds.
var names = [...]string{"nDCG", "AP", "RR", "P", "R", "Success", "Judged", "RBP", "ERR"}

// String returns the measure's name in the grammar of ir_measures, such as "nDCG@10" or "AP(rel=2)@100".
func (m Measure) String() string {
	var args []string
	if m.exp {
		args = append(args, "dcg='exp-log2'")
	}
	if m.judged {
		args = append(args, "judged_only=True")
	}
	if m.kind == kindRBP && m.p != defaultPersistence {
		args = append(args, "p="+strconv.FormatFloat(m.p, 'g', -1, 64))
	}
	if m.rel != 1 {
		args = append(args, "rel="+strconv.Itoa(m.rel))
	}
	s := names[m.kind]
	if len(args) > 0 {
		s += "(" + strings.Join(args, ",") + ")"
	}
	if m.cutoff > 0 {
		s += "@" + strconv.Itoa(m.cutoff)
	}
	return s
}

// Cutoff returns how many documents of a ranking the measure reads. 0 means all.
func (m Measure) Cutoff() int { return m.cutoff }

// Of returns the value of the measure for one query's ranking, best document first. The value is in 0..1. A repeated
// document counts only at its first rank. If no relevant document is known, the value is 0.
func (m Measure) Of(ranking []string, qrels Judgements) float64 {
	ranking = distinct(ranking)
	if m.judged {
		ranking = slices.DeleteFunc(slices.Clone(ranking), func(id string) bool {
			gain, ok := qrels[id]
			return !ok || gain < 0 // trec_eval treats these documents as not judged
		})
	}
	depth := len(ranking)
	if m.cutoff > 0 {
		depth = min(depth, m.cutoff)
	}
	top := ranking[:depth]
	switch m.kind {
	case kindNDCG:
		return m.ndcg(top, qrels)
	case kindAP:
		return m.averagePrecision(top, qrels)
	case kindRR:
		return m.reciprocalRank(top, qrels)
	case kindP:
		return ratio(m.relevantIn(top, qrels), cmp.Or(m.cutoff, len(ranking)))
	case kindR:
		return ratio(m.relevantIn(top, qrels), m.relevant(qrels))
	case kindSuccess:
		return float64(min(1, m.relevantIn(top, qrels)))
	case kindJudged:
		n := 0
		for _, id := range top {
			if _, ok := qrels[id]; ok {
				n++
			}
		}
		return ratio(n, len(top))
	case kindRBP:
		return m.rankBiasedPrecision(top, qrels)
	case kindERR:
		return m.expectedReciprocalRank(top, qrels)
	}
	panic("metric: unknown kind")
}

func (m Measure) relevantIn(top []string, qrels Judgements) int {
	n := 0
	for _, id := range top {
		if m.isRelevant(id, qrels) {
			n++
		}
	}
	return n
}

func (m Measure) isRelevant(id string, qrels Judgements) bool {
	gain, ok := qrels[id]
	return ok && gain >= m.rel
}

func (m Measure) relevant(qrels Judgements) int {
	n := 0
	for _, gain := range qrels {
		if gain >= m.rel {
			n++
		}
	}
	return n
}

// ndcg returns the discounted cumulative gain of the ranking divided by the best possible gain (Järvelin, Kekäläinen:
// Cumulated Gain-Based Evaluation of IR Techniques, 2002). The discount is log2(rank + 1).
func (m Measure) ndcg(top []string, qrels Judgements) float64 {
	var dcg float64
	for i, id := range top {
		dcg += m.gain(qrels[id]) / math.Log2(float64(i+2))
	}
	ideal := make([]int, 0, len(qrels))
	for _, g := range qrels {
		ideal = append(ideal, g)
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	if m.cutoff > 0 && len(ideal) > m.cutoff {
		ideal = ideal[:m.cutoff]
	}
	var best float64
	for i, g := range ideal {
		best += m.gain(g) / math.Log2(float64(i+2))
	}
	if best == 0 {
		return 0
	}
	return dcg / best
}

func (m Measure) gain(g int) float64 {
	switch {
	case g <= 0:
		return 0
	case m.exp:
		return math.Exp2(float64(g)) - 1
	}
	return float64(g)
}

// averagePrecision returns the mean precision at the ranks of all relevant documents. If the ranking lacks a relevant
// document, its precision is 0.
func (m Measure) averagePrecision(top []string, qrels Judgements) float64 {
	found, sum := 0, 0.0
	for i, id := range top {
		if m.isRelevant(id, qrels) {
			found++
			sum += float64(found) / float64(i+1)
		}
	}
	if n := m.relevant(qrels); n > 0 {
		return sum / float64(n)
	}
	return 0
}

func (m Measure) reciprocalRank(top []string, qrels Judgements) float64 {
	for i, id := range top {
		if m.isRelevant(id, qrels) {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// rankBiasedPrecision returns (1-p) times the sum of p^(rank-1) over the relevant documents in the ranking. Source:
// Moffat, Zobel: Rank-Biased Precision for Measurement of Retrieval Effectiveness, 2008.
func (m Measure) rankBiasedPrecision(top []string, qrels Judgements) float64 {
	sum, weight := 0.0, 1-m.p
	for _, id := range top {
		if m.isRelevant(id, qrels) {
			sum += weight
		}
		weight *= m.p
	}
	return sum
}

// expectedReciprocalRank returns ERR (Chapelle, Metzler, Zhang, Grinspan: Expected Reciprocal Rank for Graded
// Relevance, 2009). As in gdeval, the largest possible gain is 4.
func (m Measure) expectedReciprocalRank(top []string, qrels Judgements) float64 {
	const maxGain = 4
	sum, unsatisfied := 0.0, 1.0
	for i, id := range top {
		r := (math.Exp2(float64(max(0, qrels[id]))) - 1) / (1 << maxGain)
		sum += unsatisfied * r / float64(i+1)
		unsatisfied *= 1 - r
	}
	return sum
}

func ratio(n, d int) float64 {
	if d == 0 {
		return 0
	}
	return float64(n) / float64(d)
}

// distinct returns ranking without repeated documents.
func distinct(ranking []string) []string {
	seen, out := make(map[string]bool, len(ranking)), make([]string, 0, len(ranking))
	for _, id := range ranking {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// Scored is a document with its score.
type Scored struct {
	ID    string
	Score float64
}

// Order sorts results as trec_eval does: by score, highest first, and equal scores by ID, largest first. It ignores
// ranks and the order of the input. Scores are equal if they are equal as 32-bit numbers.
func Order(results []Scored) []Scored {
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(float32(b.Score), float32(a.Score)), strings.Compare(b.ID, a.ID))
	})
	return sorted
}

// IDs returns the documents of results, in order.
func IDs(results []Scored) []string {
	ids := make([]string, len(results))
	for i, r := range results {
		ids[i] = r.ID
	}
	return ids
}
