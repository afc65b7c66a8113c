package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sheaf"
)

// GraphBoost raises hits whose document is connected with other documents of the ranking. It compares the first
// Candidates documents of the ranking. For each document, GraphBoost counts the others that link to it, are cited
// together with it, or share a tag. c is the sum of the three counts, each times its weight. All hits of the document
// get the factor
//
//	1 + Strength * ln(1 + c), at most Max
//
// Unless MinSimilarity is 0, only documents with a hit of at least this similarity count. If no vector branch found
// hits, all documents count.
//
// Example, Strength 0.1: one link of weight 1 from another document gives the factor 1 + 0.1 ln 2 = 1.0693. One
// co-citation of weight 0.5 gives 1.0405. The cap 1.15 is reached at c = 3.48.
//
// Source: the tiered search specification. Tags include the tags of the frontmatter, and their case does not matter.
type GraphBoost struct {
	Candidates    int // at least 1
	Backlink      float64
	CoCitation    float64
	SharedTag     float64
	Strength      float64
	Max           float64 // at least 1; 0 is no cap
	MinSimilarity float64 // -1..1; 0 means no minimum, so 0 itself cannot be one
	Blend         Blend
}

// Apply implements [Stage].
func (b GraphBoost) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "graph boost"
	if err := cmp.Or(env.check(stage, in), capValid(stage, b.Max)); err != nil {
		return nil, err
	}
	connected := b.connections(b.candidates(in, env), env.Facts)
	if len(connected) == 0 {
		return in, nil
	}
	return boost(stage, b.Blend, b.Max, in, func(h *sheaf.Hit) (float64, func() sheaf.Explanation) {
		n := env.Facts.Node(h.ID)
		if n == nil {
			return 1, nil
		}
		c, ok := connected[n.Doc]
		if !ok {
			return 1, nil
		}
		return 1 + b.Strength*math.Log(1+b.sum(c)), func() sheaf.Explanation { return b.explain(c) }
	})
}

// candidates returns the documents to compare, best first.
func (b GraphBoost) candidates(in sheaf.Ranking, env Env) []sheaf.ID {
	gate := b.MinSimilarity != 0 && env.Similarity != nil
	if gate {
		// If no hit has a similarity, the minimum does not apply.
		gate = slices.ContainsFunc(in, func(h sheaf.Hit) bool { _, ok := env.Similarity(h.ID); return ok })
	}
	var docs []sheaf.ID
	seen := map[sheaf.ID]bool{}
	for i := 0; i < len(in) && len(docs) < b.Candidates; i++ {
		n := env.Facts.Node(in[i].ID)
		if n == nil || seen[n.Doc] {
			continue
		}
		if gate {
			if s, ok := env.Similarity(in[i].ID); !ok || s < b.MinSimilarity {
				continue
			}
		}
		seen[n.Doc] = true
		docs = append(docs, n.Doc)
	}
	return docs
}

// connections counts the documents that link to a document, are cited together with it, or share a tag with it.
type connections struct{ links, cited, shared int }

func (b GraphBoost) sum(c connections) float64 {
	return b.Backlink*float64(c.links) + b.CoCitation*float64(c.cited) + b.SharedTag*float64(c.shared)
}

// connections returns the counts of those docs whose weighted sum of counts is not 0. It counts only documents in docs.
func (b GraphBoost) connections(docs []sheaf.ID, facts Facts) map[sheaf.ID]connections {
	n := len(docs)
	if n < 2 {
		return nil
	}
	at := make(map[sheaf.ID]int, n)
	for i, doc := range docs {
		at[doc] = i
	}
	var links []int
	cited, shared := make([]int, n), make([]int, n)
	if b.CoCitation > 0 {
		links, cited = backlinks(docs, at, facts)
	} else {
		links = forwardLinks(docs, at, facts)
	}
	if b.SharedTag > 0 {
		shared = sharedTags(docs, facts)
	}
	out := map[sheaf.ID]connections{}
	for i, doc := range docs {
		if c := (connections{links[i], cited[i], shared[i]}); b.sum(c) != 0 {
			out[doc] = c
		}
	}
	return out
}

// forwardLinks returns, for each of docs, how many other docs link to it. at maps each document to its index.
// forwardLinks does not read backlinks, because a popular document has very many of them.
func forwardLinks(docs []sheaf.ID, at map[sheaf.ID]int, facts Facts) []int {
	counts := make([]int, len(docs))
	for i, doc := range docs {
		for _, target := range facts.Links(doc) {
			if j, ok := at[target]; ok && j != i {
				counts[j]++
			}
		}
	}
	return counts
}

// backlinks returns how many other docs link to each of docs, and how many are cited together with it.
func backlinks(docs []sheaf.ID, at map[sheaf.ID]int, facts Facts) (links, cited []int) {
	citedBy := map[sheaf.ID][]int{} // docs by the documents that link to them
	linked, together := make([]map[int]bool, len(docs)), make([]map[int]bool, len(docs))
	for i := range docs {
		linked[i], together[i] = map[int]bool{}, map[int]bool{}
	}
	for i, doc := range docs {
		for _, source := range facts.Backlinks(doc) {
			if source == doc {
				continue
			}
			if j, ok := at[source]; ok {
				linked[i][j] = true
			}
			for _, j := range citedBy[source] {
				together[i][j], together[j][i] = true, true
			}
			citedBy[source] = append(citedBy[source], i)
		}
	}
	for i := range docs {
		links, cited = append(links, len(linked[i])), append(cited, len(together[i]))
	}
	return links, cited
}

// sharedTags returns, for each of docs, how many other docs share a tag with it.
func sharedTags(docs []sheaf.ID, facts Facts) []int {
	having := map[string][]int{} // docs by tag
	shared, counts := make([]map[int]bool, len(docs)), make([]int, len(docs))
	for i, doc := range docs {
		shared[i] = map[int]bool{i: true}
		d, _ := facts.Document(doc)
		for _, tag := range d.Tags {
			tag = strings.ToLower(tag)
			having[tag] = append(having[tag], i)
		}
	}
	for _, same := range having {
		for _, i := range same {
			for _, j := range same {
				shared[i][j] = true
			}
		}
	}
	for i := range docs {
		counts[i] = len(shared[i]) - 1
	}
	return counts
}

func (b GraphBoost) explain(c connections) sheaf.Explanation {
	sum := b.sum(c)
	log := math.Log(1 + sum)
	all := combined("one and the connections", 1+sum, sheaf.CombineSum, part("one", 1),
		counted("linked to by %d others", c.links, b.Backlink),
		counted("cited together with %d others", c.cited, b.CoCitation),
		counted("sharing tags with %d others", c.shared, b.SharedTag))
	why := combined("connections in the ranking", 1+b.Strength*log, sheaf.CombineSum, part("one", 1),
		combined("growth", b.Strength*log, sheaf.CombineProduct, part("strength", b.Strength),
			combined("ln", log, sheaf.CombineLog, all)))
	return called(why, sheaf.KindGraph, map[string]sheaf.Value{
		"backlinks": sheaf.NumberValue(float64(c.links)), "co_citations": sheaf.NumberValue(float64(c.cited)),
		"shared_tags": sheaf.NumberValue(float64(c.shared)), "connections": sheaf.NumberValue(sum),
	})
}

func counted(format string, n int, weight float64) sheaf.Explanation {
	return combined(fmt.Sprintf(format, n), weight*float64(n), sheaf.CombineProduct, part("weight", weight),
		part("count", float64(n)))
}
