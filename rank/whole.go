package rank

import (
	"fmt"

	"sheaf"
)

// Word is a word of the query, or another part of it that is matched by itself.
type Word struct {
	Text string
	// Worth is what it is worth to have it, 0 or more: its idf.
	Worth float64
	// In is how strongly each of the chunks asked for has it, in their order, 0 or
	// more: BM25's part that depends on frequency and length.
	In []float64
}

// Whole raises every hit by the query's words that its document has elsewhere. A
// page that says each of several words somewhere is about all of them, though no
// place has them all; the best place alone does not show it. Of the first
// Documents documents, all hits of one get, with x a word's strength in a place,
//
//	Strength x has x more
//	has = sum of worth x min(1, x in the best hit) / sum of worth
//	more = sum of worth x (s(sum of x over all places) - s(x in the best hit)) / sum of worth
//	s(x) = x (1 + Saturation)/(x + Saturation)
//
// so that repetitions count less and less, documents of one place get nothing, and
// words that are spread over a document do not pass a place that has them together.
//
// Example, Strength 0.2, Saturation 2: of two words of equal worth the best hit has
// the first with 1; another place has the second with 1: 0.2 x 0.5 x 0.5 = 0.05.
//
// It is BM25 over whole documents in shape, made of what the index of places
// knows: lengths are those of places.
type Whole struct {
	Strength   float64 // 0..1e6
	Saturation float64 // above 0, at most 1e6
	Documents  int     // 1..1000
}

// MaxPlaces is how many places of one document are looked at, in its order; of
// longer ones the beginning says what they are about.
const MaxPlaces = 32

// Apply implements [Stage]. Without [Env.Words] the ranking stays as it is.
func (w Whole) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	const stage = "whole document"
	if err := firstError(env.needFacts(stage), within(stage, "strength", w.Strength, 0, 1e6), positive(stage, "saturation", w.Saturation),
		within(stage, "saturation", w.Saturation, 0, 1e6), within(stage, "documents", float64(w.Documents), 1, 1000)); err != nil {
		return nil, err
	}
	factors := map[sheaf.ID]*factor{}
	if env.Words != nil && w.Strength > 0 {
		pages, all := w.pages(in, env.Facts)
		if len(all) > 0 {
			words, err := env.Words(all)
			if err != nil {
				return nil, err
			}
			for _, p := range pages {
				if f := w.factor(words, p, explained(in)); f != nil {
					factors[p.doc] = f
				}
			}
		}
	}
	return boost(stage, in, Add, func(h *sheaf.Hit) *factor {
		if len(factors) == 0 {
			return nil
		}
		c := nodeOf(env.Facts, h.ID)
		if c == nil {
			return nil
		}
		return factors[c.Doc]
	})
}

// page is a document and where its places stand among those of all: its best hit
// first, then the others in its order.
type page struct {
	doc      sheaf.ID
	from, to int
}

// pages are the first documents with all their places; those of one place are left
// out.
func (w Whole) pages(in sheaf.Ranking, facts Facts) (pages []page, all []sheaf.ID) {
	seen := make(map[sheaf.ID]bool, w.Documents)
	for i := range in {
		if len(seen) == w.Documents {
			break
		}
		c := nodeOf(facts, in[i].ID)
		if c == nil || seen[c.Doc] {
			continue
		}
		seen[c.Doc] = true
		o := outlineOf(facts, c.Doc)
		if o == nil || len(o.Nodes) < 2 {
			continue
		}
		from := len(all)
		all = append(all, in[i].ID)
		for j := range o.Nodes[:min(len(o.Nodes), MaxPlaces)] {
			if id := o.Nodes[j].ID; id != in[i].ID {
				all = append(all, id)
			}
		}
		pages = append(pages, page{c.Doc, from, len(all)})
	}
	return pages, all
}

// factor is what the places of a document add to those words that its best hit
// has; nil for nothing.
func (w Whole) factor(words []Word, p page, explain bool) *factor {
	total, gained, has := 0.0, 0.0, 0.0
	var parts []sheaf.Explanation
	for i := range words {
		word := &words[i]
		total += word.Worth
		best, sum := word.In[p.from], 0.0
		has += word.Worth * min(1, best)
		for _, x := range word.In[p.from:p.to] {
			sum += x
		}
		more := word.Worth * (w.saturated(sum) - w.saturated(best))
		gained += more
		if explain && more > 0 {
			parts = append(parts, part(fmt.Sprintf("%q elsewhere in the document", word.Text), more))
		}
	}
	if !(total > 0) || !(gained > 0) || !(has > 0) {
		return nil
	}
	share := gained / total
	raised := w.Strength * (has / total) * share
	if !explain {
		return &factor{value: 1 + raised}
	}
	worth := part("what the query is worth", total)
	why := combined("words of the whole document", 1+raised, sheaf.CombineSum, part("one", 1),
		combined("what other places add", raised, sheaf.CombineProduct, part("strength", w.Strength),
			combined("share of the query in the best place", has/total, sheaf.CombineQuotient, part("words of the best place", has), worth),
			combined("share of the query that other places add", share, sheaf.CombineQuotient,
				combined("words that other places add", gained, sheaf.CombineSum, parts...), worth)))
	return &factor{value: 1 + raised, why: &why}
}

func (w Whole) saturated(x float64) float64 { return x * (1 + w.Saturation) / (x + w.Saturation) }
