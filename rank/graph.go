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
	return alone(b, in, env)
}

func (b GraphBoost) work(r *Row, env Env) error {
	const stage = "graph boost"
	if err := firstError(env.needFacts(stage), capValid(stage, b.Max),
		within(stage, "backlink", b.Backlink, 0, 1e6), within(stage, "co_citation", b.CoCitation, 0, 1e6),
		within(stage, "shared_tag", b.SharedTag, 0, 1e6), within(stage, "strength", b.Strength, 0, 1e6),
		within(stage, "candidates", float64(b.Candidates), 1, 1e6), within(stage, "min_similarity", b.MinSimilarity, -1, 1), r.valid(stage)); err != nil {
		return err
	}
	r.findDocuments(env.Facts)
	return r.boostDocuments(stage, b.Blend, b.factors(b.candidates(r, env), r, env.Facts))
}

// candidate is a document that others may be connected with.
type candidate struct {
	best *sheaf.Node // its best hit
	doc  int32       // its number in the row
}

// candidates are the first documents, best first.
func (b GraphBoost) candidates(r *Row, env Env) []candidate {
	gate, keys := b.MinSimilarity != 0 && env.Similarity != nil, r.inOrder()
	if gate {
		// Without a single similarity there is nothing to judge by.
		gate = slices.ContainsFunc(keys, func(k rowKey) bool { _, ok := env.Similarity(r.hits[k.at].ID); return ok })
	}
	seen := r.unmarked()
	out := slices.Grow(r.candidates[:0], min(b.Candidates, r.documents))
	for _, k := range keys {
		doc := r.docs[k.at]
		if doc < 0 || seen[doc] {
			continue
		}
		if gate {
			if s, ok := env.Similarity(r.hits[k.at].ID); !ok || s < b.MinSimilarity {
				continue
			}
		}
		seen[doc] = true
		if out = append(out, candidate{r.nodes[k.at], doc}); len(out) == b.Candidates {
			break
		}
	}
	r.candidates = out
	return out
}

// factors are those of the candidates that are connected, by document.
func (b GraphBoost) factors(candidates []candidate, r *Row, facts Facts) []docFactor {
	n := len(candidates)
	if n < 2 {
		return nil
	}
	r.connections = sized(r.connections, 3*n)
	links, cited, shared := r.connections[:n], r.connections[n:2*n], r.connections[2*n:]
	if b.CoCitation > 0 {
		links, cited = backlinks(candidates, facts)
	} else {
		forwardLinks(links, candidates, &r.table, facts)
	}
	if b.SharedTag > 0 {
		shared = sharedTags(candidates, facts)
	}
	factors := r.noFactors()
	for i, c := range candidates {
		at := &factors[c.doc]
		at.factor, at.ok = b.factor(links[i], cited[i], shared[i], r.why != nil)
	}
	return factors
}

// forwardLinks adds to counts the candidates that link to each. It asks for links, which
// stand in the document, and not for the documents that link to one, which may be
// a large part of the collection.
func forwardLinks(counts []int, candidates []candidate, table *Numbering, facts Facts) {
	if numberedLinks(counts, candidates, table, facts) {
		return
	}
	clear(counts)
	places := placesOf(candidates)
	defer places.Release()
	for i, c := range candidates {
		for _, target := range facts.Links(c.best.Doc) {
			if j, ok := places.Of(target); ok && j != i {
				counts[j]++
			}
		}
	}
}

// numberedLinks is forwardLinks by the numbers of documents, which spares it the text of
// hundreds of IDs; false when some have none.
func numberedLinks(counts []int, candidates []candidate, table *Numbering, facts Facts) bool {
	linker, ok := facts.(Linker)
	if !ok {
		return false
	}
	table.Reset(len(candidates))
	for _, c := range candidates { // all different
		if c.best.Number == 0 {
			return false
		}
		table.Add(c.best.Number)
	}
	for i, c := range candidates {
		targets, ok := linker.LinkNumbers(c.best)
		if !ok {
			return false
		}
		for _, target := range targets {
			if j, ok := table.Of(target); ok && j != i {
				counts[j]++
			}
		}
	}
	return true
}

// placesOf numbers candidates by their IDs.
func placesOf(candidates []candidate) *Ordinals {
	places := NewOrdinals(len(candidates))
	for _, c := range candidates { // all different
		places.Add(c.best.Doc)
	}
	return places
}

// backlinks counts the candidates that link to each, and those that some document
// links to together with it.
func backlinks(candidates []candidate, facts Facts) (links, cited []int) {
	places := placesOf(candidates)
	defer places.Release()
	citedBy := map[sheaf.ID][]int{} // candidates by the documents that link to them
	linked, together := make([]map[int]bool, len(candidates)), make([]map[int]bool, len(candidates))
	for i := range candidates {
		linked[i], together[i] = map[int]bool{}, map[int]bool{}
	}
	for i, c := range candidates {
		for _, source := range facts.Backlinks(c.best.Doc) {
			if source == c.best.Doc {
				continue
			}
			if j, ok := places.Of(source); ok {
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
func sharedTags(candidates []candidate, facts Facts) []int {
	tags := make([]map[string]bool, len(candidates))
	for i, c := range candidates {
		tags[i] = documentTags(c.best.Doc, facts)
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

// factor is that of a document with so many connections; false for none.
func (b GraphBoost) factor(links, cited, shared int, explain bool) (factor, bool) {
	l, c, t := b.Backlink*float64(links), b.CoCitation*float64(cited), b.SharedTag*float64(shared)
	sum := l + c + t
	if sum == 0 {
		return factor{}, false
	}
	log := math.Log(1 + sum)
	if !explain {
		return factor{value: atMost(1+b.Strength*log, b.Max)}, true
	}
	why := combined("connections in the ranking", 1+b.Strength*log, sheaf.CombineSum, part("one", 1),
		combined("growth", b.Strength*log, sheaf.CombineProduct, part("strength", b.Strength),
			combined("ln", log, sheaf.CombineLog, combined("one and the connections", 1+sum, sheaf.CombineSum, part("one", 1),
				counted("linked to by %d others", links, b.Backlink), counted("cited together with %d others", cited, b.CoCitation),
				counted("sharing tags with %d others", shared, b.SharedTag)))))
	return capped(why, b.Max).called(sheaf.KindGraph, map[string]sheaf.Value{"backlinks": sheaf.NumberValue(float64(links)),
		"co_citations": sheaf.NumberValue(float64(cited)), "shared_tags": sheaf.NumberValue(float64(shared)), "connections": sheaf.NumberValue(sum)}), true
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
