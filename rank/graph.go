package rank

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sheaf"
)

// GraphBoost raises hits whose documents are connected with other documents of
// the ranking. Among the first Candidates distinct documents it counts, for
// each: the others that link to it, the others that some document links to
// together with it, and the others that share a tag with it, each other
// document once in each count; what has weight 0 is not looked up. With c the
// sum of the counts times their weights, all hits of the document get
//
//	1 + Strength x ln(1 + c), at most Max
//
// When a vector branch ran and MinSimilarity is above 0, only documents with a
// hit that similar are candidates.
//
// Example, Strength 0.1: linked to by one other, 1 + 0.1 ln 2 = 1.0693; one
// co-citation of weight 0.5, 1.0405; cap 1.15 is reached at c = 3.48.
//
// Source: the tiered search specification. Tags compare without regard to
// case and include those of the frontmatter.
type GraphBoost struct {
	Candidates    int // at least 1
	Backlink      float64
	CoCitation    float64
	SharedTag     float64
	Strength      float64
	Max           float64 // at least 1; 0 is no cap
	MinSimilarity float64 // -1..1; 0 asks for none
	Blend         Blend
}

// Apply implements [Stage].
func (b GraphBoost) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "graph boost"
	if err := firstError(env.needFacts(stage), capValid(stage, b.Max),
		within(stage, "backlink", b.Backlink, 0, 1e6), within(stage, "co_citation", b.CoCitation, 0, 1e6),
		within(stage, "shared_tag", b.SharedTag, 0, 1e6), within(stage, "strength", b.Strength, 0, 1e6),
		within(stage, "candidates", float64(b.Candidates), 1, 1e6), within(stage, "min_similarity", b.MinSimilarity, -1, 1)); err != nil {
		return nil, err
	}
	factors := b.factors(b.candidates(in, env), env.Facts)
	facts := env.Facts
	if len(factors) == 0 {
		facts = nil
	}
	return boost(stage, in, b.Blend, facts, func(_ *sheaf.Hit, c *sheaf.Node) (factor, bool) { return ofDocument(factors, c) })
}

// candidates are the first documents of in, best first.
func (b GraphBoost) candidates(in sheaf.Ranking, env Env) []sheaf.ID {
	gate := b.MinSimilarity != 0 && env.Similarity != nil
	if gate {
		// Without a single similarity there is nothing to judge by.
		gate = slices.ContainsFunc(in, func(h sheaf.Hit) bool { _, ok := env.Similarity(h.ID); return ok })
	}
	seen := map[sheaf.ID]bool{}
	var out []sheaf.ID
	for i := range in {
		c := nodeOf(env.Facts, in[i].ID)
		if c == nil || seen[c.Doc] {
			continue
		}
		if gate {
			if s, ok := env.Similarity(in[i].ID); !ok || s < b.MinSimilarity {
				continue
			}
		}
		seen[c.Doc] = true
		if out = append(out, c.Doc); len(out) == b.Candidates {
			break
		}
	}
	return out
}

// factors are those of the candidates that are connected.
func (b GraphBoost) factors(candidates []sheaf.ID, facts Facts) map[sheaf.ID]*factor {
	n := len(candidates)
	if n < 2 {
		return nil
	}
	index := make(map[sheaf.ID]int, n)
	for i, doc := range candidates {
		index[doc] = i
	}
	var links, cited, shared []int
	if b.CoCitation > 0 {
		links, cited = backlinks(candidates, index, facts)
	} else {
		links, cited = forwardLinks(candidates, index, facts), make([]int, n)
	}
	if b.SharedTag > 0 {
		shared = sharedTags(candidates, facts)
	} else {
		shared = make([]int, n)
	}
	factors := map[sheaf.ID]*factor{}
	for i, doc := range candidates {
		if f := b.factor(links[i], cited[i], shared[i]); f != nil {
			factors[doc] = f
		}
	}
	return factors
}

// forwardLinks counts the candidates that link to each. It asks for links, which
// stand in the document, and not for the documents that link to one, which may be
// a large part of the collection.
func forwardLinks(candidates []sheaf.ID, index map[sheaf.ID]int, facts Facts) []int {
	counts := make([]int, len(candidates))
	for i, doc := range candidates {
		for _, target := range facts.Links(doc) {
			if j, ok := index[target]; ok && j != i {
				counts[j]++
			}
		}
	}
	return counts
}

// backlinks counts the candidates that link to each, and those that some document
// links to together with it.
func backlinks(candidates []sheaf.ID, index map[sheaf.ID]int, facts Facts) (links, cited []int) {
	citedBy := map[sheaf.ID][]int{} // candidates by the documents that link to them
	linked, together := make([]map[int]bool, len(candidates)), make([]map[int]bool, len(candidates))
	for i := range candidates {
		linked[i], together[i] = map[int]bool{}, map[int]bool{}
	}
	for i, doc := range candidates {
		for _, source := range facts.Backlinks(doc) {
			if source == doc {
				continue
			}
			if j, ok := index[source]; ok {
				linked[i][j] = true
			}
			for _, j := range citedBy[source] {
				together[i][j], together[j][i] = true, true
			}
			citedBy[source] = append(citedBy[source], i)
		}
	}
	for i := range candidates {
		links, cited = append(links, len(linked[i])), append(cited, len(together[i]))
	}
	return links, cited
}

// sharedTags counts the candidates that share a tag with each.
func sharedTags(candidates []sheaf.ID, facts Facts) []int {
	tags := make([]map[string]bool, len(candidates))
	for i, doc := range candidates {
		tags[i] = documentTags(doc, facts)
	}
	counts := make([]int, len(candidates))
	for i := range tags {
		for j := range tags {
			if i != j && overlap(tags[i], tags[j]) {
				counts[i]++
			}
		}
	}
	return counts
}

func (b GraphBoost) factor(links, cited, shared int) *factor {
	l, c, t := b.Backlink*float64(links), b.CoCitation*float64(cited), b.SharedTag*float64(shared)
	sum := l + c + t
	if sum == 0 {
		return nil
	}
	log := math.Log(1 + sum)
	why := combined("connections in the ranking", 1+b.Strength*log, sheaf.CombineSum, part("one", 1),
		combined("growth", b.Strength*log, sheaf.CombineProduct, part("strength", b.Strength),
			combined("ln", log, sheaf.CombineLog, combined("one and the connections", 1+sum, sheaf.CombineSum, part("one", 1),
				counted("linked to by %d others", links, b.Backlink), counted("cited together with %d others", cited, b.CoCitation),
				counted("sharing tags with %d others", shared, b.SharedTag)))))
	f := capped(why, b.Max).called(sheaf.KindGraph, map[string]sheaf.Value{"backlinks": sheaf.NumberValue(float64(links)),
		"co_citations": sheaf.NumberValue(float64(cited)), "shared_tags": sheaf.NumberValue(float64(shared)), "connections": sheaf.NumberValue(sum)})
	return &f
}

func counted(format string, n int, weight float64) sheaf.Explanation {
	return combined(fmt.Sprintf(format, n), weight*float64(n), sheaf.CombineProduct, part("weight", weight), part("count", float64(n)))
}

func documentTags(doc sheaf.ID, facts Facts) map[string]bool {
	tags := map[string]bool{}
	d, _ := facts.Document(doc)
	for _, t := range d.Tags {
		tags[strings.ToLower(t)] = true
	}
	return tags
}

func overlap(a, b map[string]bool) bool {
	for t := range a {
		if b[t] {
			return true
		}
	}
	return false
}
