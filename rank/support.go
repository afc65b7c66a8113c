package rank

import (
	"fmt"

	"sheaf"
)

// Support raises every hit by what else its document has to say. Of the first
// Among hits, those of one document beside the best of them are taken for
// independent signs that the document is about what was asked, a hit of score s
// with probability Each x s (s within 0..1): all hits of the document get
//
//	Strength x (1 - (1 - Each s2) (1 - Each s3) ...)
//
// so that documents with several good places pass those with one, and the order
// within a document stays. Scores should lie on an absolute scale of about 0..1.
//
// Example, Each 0.5, Strength 0.2: hits of .8, .6 and .4 give their document
// 0.2 x (1 - 0.7 x 0.8) = 0.088.
type Support struct {
	Strength float64 // 0..1e6
	Each     float64 // 0..1
	Among    int     // at least 1
}

// Apply implements [Stage].
func (s Support) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) { return alone(s, in, env) }

func (s Support) work(r *Row, env Env) error {
	const stage = "support"
	if err := firstError(env.needFacts(stage), within(stage, "strength", s.Strength, 0, 1e6), within(stage, "each", s.Each, 0, 1),
		within(stage, "among", float64(s.Among), 1, 1e6), r.valid(stage)); err != nil {
		return err
	}
	r.findDocuments(env.Facts)
	keys := r.inOrder()
	keys = keys[:min(len(keys), s.Among)]
	factors, met := r.noFactors(), r.unmarked()
	for i, k := range keys {
		doc := r.docs[k.at]
		if doc < 0 || factors[doc].ok {
			continue
		}
		if met[doc] { // the first beside the best one
			r.spare = r.spare[:0]
			for _, other := range keys[i:] {
				if r.docs[other.at] == doc {
					r.spare = append(r.spare, other)
				}
			}
			factors[doc] = docFactor{s.factor(r, r.spare), true}
		}
		met[doc] = true
	}
	return r.boostDocuments(stage, Add, factors)
}

// factor is what other hits give to their document.
func (s Support) factor(r *Row, others []rowKey) factor {
	none := 1.0
	var parts []sheaf.Explanation
	for _, k := range others {
		score := min(1, max(0, k.score))
		miss := 1 - s.Each*score
		none *= miss
		if r.why != nil {
			parts = append(parts, combined(fmt.Sprintf("%s says nothing", r.hits[k.at].ID), miss, sheaf.CombineDifference, part("one", 1),
				combined("chance that it does", s.Each*score, sheaf.CombineProduct, part("each", s.Each), part("score, within 0..1", score))))
		}
	}
	raised := s.Strength * (1 - none)
	if r.why == nil {
		return factor{value: 1 + raised}
	}
	why := combined("other places of the document", 1+raised, sheaf.CombineSum, part("one", 1),
		combined("support", raised, sheaf.CombineProduct, part("strength", s.Strength),
			combined("chance that any of them says something", 1-none, sheaf.CombineDifference, part("one", 1),
				combined("none does", none, sheaf.CombineProduct, parts...))))
	return factor{value: 1 + raised, why: &why}
}
