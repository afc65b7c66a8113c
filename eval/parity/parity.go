// Package parity compares two stores' rankings of the same query, and names likely reasons for differences.
package parity

import (
	"fmt"
	"math"
	"slices"

	"sheaf"
)

// Agreement says how similar two rankings are.
type Agreement struct {
	// Hits is the number of hits in each of the two rankings.
	Hits [2]int `json:"hits"`
	// Shared is how many hits are in both rankings.
	Shared    int  `json:"shared"`
	SameSet   bool `json:"same_set"`   // whether both rankings have the same IDs
	SameOrder bool `json:"same_order"` // whether both rankings have the same IDs in the same order
	// Tau is Kendall's rank correlation of the shared hits. It is 1 for fewer than two shared hits. Hits with equal
	// scores in one of the rankings are tied (tau-b).
	Tau             float64 `json:"kendall_tau"`
	RBO             float64 `json:"rbo"`              // the rank-biased overlap
	ScoreDifference float64 `json:"score_difference"` // the largest difference of the two scores of a shared hit
	ScoreShare      float64 `json:"score_share"`      // the largest difference relative to the larger score
}

// Persistence is the p of [RBO] in an Agreement. With this p, the first ten ranks have 86 % of the weight.
const Persistence = 0.9

// Compare compares two rankings.
func Compare(a, b sheaf.Ranking) Agreement {
	at := make(map[sheaf.ID]int, len(b))
	for i, h := range b {
		at[h.ID] = i
	}
	out := Agreement{Hits: [2]int{len(a), len(b)}, SameOrder: len(a) == len(b), RBO: RBO(ids(a), ids(b), Persistence)}
	var left, right []float64
	for i, h := range a {
		j, ok := at[h.ID]
		if !ok || i != j {
			out.SameOrder = false
		}
		if !ok {
			continue
		}
		out.Shared++
		left, right = append(left, h.Score), append(right, b[j].Score)
		d := math.Abs(h.Score - b[j].Score)
		out.ScoreDifference = max(out.ScoreDifference, d)
		if most := max(math.Abs(h.Score), math.Abs(b[j].Score)); most > 0 {
			out.ScoreShare = max(out.ScoreShare, d/most)
		}
	}
	out.SameSet = out.Shared == len(a) && len(a) == len(b)
	out.Tau = Tau(left, right)
	return out
}

func ids(r sheaf.Ranking) []sheaf.ID {
	out := make([]sheaf.ID, len(r))
	for i, h := range r {
		out[i] = h.ID
	}
	return out
}

// Tau returns Kendall's tau-b of two lists of scores (Kendall 1945). a[i] and b[i] are scores of the same hit. If all
// scores are equal in both lists, it returns 1. If they are equal in only one list, it returns 0.
func Tau(a, b []float64) float64 {
	var concordant, discordant, tiedA, tiedB float64
	for i := range a {
		for j := range i {
			x, y := a[i]-a[j], b[i]-b[j]
			switch {
			case x == 0 && y == 0:
			case x == 0:
				tiedA++
			case y == 0:
				tiedB++
			case (x > 0) == (y > 0):
				concordant++
			default:
				discordant++
			}
		}
	}
	pairs := concordant + discordant
	if pairs+tiedA+tiedB == 0 {
		return 1
	}
	if pairs == 0 {
		return 0
	}
	return (concordant - discordant) / math.Sqrt((pairs+tiedA)*(pairs+tiedB))
}

// RBO returns the extrapolated rank-biased overlap of two lists without duplicates. It is 1 for equal lists, and 0
// for lists without a common entry. p, above 0 and below 1, is the probability that a reader goes on (Webber, Moffat,
// Zobel: A Similarity Measure for Indefinite Rankings, 2010, equation 32).
func RBO[T comparable](a, b []T, p float64) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	short, long := len(a), len(b)
	if short == 0 {
		if long == 0 {
			return 1
		}
		return 0
	}
	seen := make(map[T]bool, long)
	overlap := 0.0
	overlapAt := func(list []T, d int) {
		if d < len(list) {
			if seen[list[d]] {
				overlap++
			}
			seen[list[d]] = true
		}
	}
	sum, atShort := 0.0, 0.0
	for d := 1; d <= long; d++ {
		overlapAt(a, d-1)
		overlapAt(b, d-1)
		if d == short {
			atShort = overlap
		}
		weight := math.Pow(p, float64(d))
		sum += overlap / float64(d) * weight
		if d > short {
			sum += atShort * float64(d-short) / float64(short*d) * weight
		}
	}
	return (1-p)/p*sum + ((overlap-atShort)/float64(long)+atShort/float64(short))*math.Pow(p, float64(long))
}

// Step describes one step of a profile as it ran on one of two compared stores.
type Step struct {
	// Words says that the step retrieved by words, and Meaning that it retrieved by a vector. If both are false, the
	// step worked on the results of earlier steps.
	Words, Meaning bool
	// Store is the kind of store, for example "postgres" or "opensearch". Approximate says that the store finds vectors
	// through a graph, so it may miss some.
	Store       string
	Approximate bool
	// Alike says that both stores count lengths and idf in the same way, so these cause no difference.
	Alike bool
	// Shards is the number of parts of the store. Each part may count words on its own. 0 means unknown.
	Shards int
	// Chosen says that the step scores hits that other steps found: other branches, or a first phase. If these steps
	// found different hits on the two stores, the step scores different hits too.
	Chosen bool
	// Noted lists the notes about the step that this store has and the other store lacks.
	Noted []string
	// Failed says why the store did not answer. It is "" if the store answered.
	Failed string
}

// near is the largest difference at which two scores count as equal. Such differences come from float32 and the order
// of sums.
const near = 2e-6

// Reasons says why the rankings a and b differ. g is the agreement of a and b. step describes the step that gave b. If
// a and b have the same order and the same scores, within float32, Reasons returns nothing.
func Reasons(a, b sheaf.Ranking, g Agreement, step Step) []string {
	var out []string
	if step.Failed != "" {
		return []string{"the store did not answer: " + step.Failed}
	}
	if g.SameOrder && g.ScoreShare <= near {
		return nil
	}
	if !step.Words && !step.Meaning {
		if len(step.Noted) > 0 {
			return step.Noted
		}
		return []string{"follows from the steps before"}
	}
	if !g.SameSet {
		if cut, ok := edge(a, b, g); ok {
			out = append(out, cut)
		} else if step.Meaning && step.Approximate {
			out = append(out, "ANN recall: the store's graph did not reach every near passage")
		} else if step.Chosen && (step.Meaning || g.ScoreShare <= near) {
			out = append(out, "others are scored: what other branches or the first phase found is looked up here")
		} else {
			out = append(out, "the store finds others, and the rankings do not tell why")
		}
	}
	if step.Words && g.ScoreShare > near && step.Shards > 1 {
		out = append(out, shards(step))
	}
	switch {
	case g.ScoreShare <= near:
		if !g.SameOrder && g.SameSet {
			out = append(out, "scores equal in float32 change places")
		}
	case step.Meaning:
		out = append(out, "precision of vectors: similarities are summed in float32 or from rounded vectors")
	case step.Alike && step.Shards > 1: // the shards are the reason
	case step.Alike:
		out = append(out, "scores differ although both count lengths and idf alike; the rankings do not tell why")
	case step.Store == "opensearch" || step.Store == "elasticsearch":
		out = append(out, "length norm precision: Lucene keeps four bits of lengths above 39 terms")
	case step.Store == "weaviate":
		out = append(out, "BM25 variant: Weaviate's idf counts all chunks, also those without the field")
	case step.Store == "vespa":
		out = append(out, "BM25 variant: Vespa's idf counts all chunks of a content node, also those without the field; "+
			"average lengths are running ones")
	default:
		out = append(out, "scores of words differ, and the rankings do not tell why")
	}
	return out
}

// shards returns a text for the report: rankings may differ because of how the shards of a store count words.
func shards(step Step) string {
	switch step.Store {
	case "opensearch", "elasticsearch":
		return fmt.Sprintf("%d shards: their counts of words are added up for each search, replaced chunks that are not "+
			"merged away included", step.Shards)
	}
	return fmt.Sprintf("%d shards: each counts by itself how rare words are", step.Shards)
}

// edge reports whether rankings a and b differ only near their end. Each hit that only one ranking has must have nearly
// the score of the last hit of this ranking. Small differences of score then decide whether a store finds the hit. If
// so, edge also returns a text with this reason. g says how far the scores of a and b differ.
func edge(a, b sheaf.Ranking, g Agreement) (string, bool) {
	if len(a) == 0 || len(a) != len(b) {
		return "", false
	}
	slack := max(g.ScoreShare, near) * 2
	for _, pair := range [2][2]sheaf.Ranking{{a, b}, {b, a}} {
		last := pair[0][len(pair[0])-1].Score
		for _, h := range pair[0] {
			if !slices.ContainsFunc(pair[1], func(o sheaf.Hit) bool { return o.ID == h.ID }) &&
				math.Abs(h.Score-last) > slack*math.Abs(h.Score)+1e-12 {
				return "", false
			}
		}
	}
	return "window: hits with nearly the score of the last one are in on one side and out on the other", true
}
