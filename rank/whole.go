package rank

import (
	"fmt"
	"slices"

	"sheaf"
)

// Word is a word of the query, another part of it that is matched by itself, or a
// pair of its words.
type Word struct {
	Text string
	// Worth is what it is worth to have it, 0 or more: its idf, of a pair those of
	// its words together.
	Worth float64
	// Pair says that it is two words that stand side by side in the query; In is
	// above 0 where they stand so.
	Pair bool
	// In is how strongly each of the chunks asked for has it, in their order, 0 or
	// more: BM25's part that depends on frequency and length.
	In []float64
}

// Whole raises every hit by what its document as a whole has of the query. A page
// that says each of several words somewhere is about all of them, though no place
// has them all; the best place alone does not show it. Of the first Documents
// documents, all hits of one get
//
//	Strength x (1 - Place + Place x has) x more + Coverage x (words + pairs)
//
// With x a word's strength in a place, and sums over the query's words or pairs,
//
//	has = sum of worth x min(1, x in the best hit) / sum of worth
//	more = sum of worth x (s(sum of x over all places) - s(x in the best hit)) / sum of worth
//	s(x) = x (1 + Saturation)/(x + Saturation)
//	words = sum of worth of those that stand anywhere in the document / sum of worth
//	pairs = sum of worth of those that stand side by side anywhere / sum of worth of pairs
//
// so that repetitions count less and less, words that are spread over a document
// add the more the more of the query its best place has, as far as Place says, and of
// two documents that say little of it in any place, the one that leaves fewer of its
// words unsaid, and says them as they were asked, comes first. Where every document
// has one place nothing changes: each was looked at whole.
//
// Example, Strength 0.2, Place 1, Saturation 2, Coverage 0: of two words of equal
// worth the best hit has the first with 1; another place has the second with 1: 0.2 x
// 0.5 x 0.5 = 0.05; with Place 0.5, 0.2 x 0.75 x 0.5 = 0.075. With Coverage 0.4 it gets
// 0.4 x 1 more, and 0.4 x 1 again when they stand side by side in a third.
//
// The first part is BM25 over whole documents in shape, made of what the index of
// places knows: lengths are those of places. The second is coordination level
// matching over words, and over pairs of them as in the sequential dependence model
// (Metzler and Croft 2005), each counted once.
type Whole struct {
	Strength   float64 // 0..1e6
	Place      float64 // 0..1
	Saturation float64 // above 0, at most 1e6
	Coverage   float64 // 0..1e6
	Documents  int     // 1..1000
}

// MaxPlaces is how many places of one document are looked at, in its order; of
// longer ones the beginning says what they are about.
const MaxPlaces = 32

// Apply implements [Stage]. Without [Env.Words] the ranking stays as it is.
func (w Whole) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) { return alone(w, in, env) }

func (w Whole) work(r *Row, env Env) error {
	const stage = "whole document"
	if err := firstError(env.needFacts(stage), within(stage, "strength", w.Strength, 0, 1e6), within(stage, "place", w.Place, 0, 1), positive(stage, "saturation", w.Saturation),
		within(stage, "saturation", w.Saturation, 0, 1e6), within(stage, "coverage", w.Coverage, 0, 1e6), within(stage, "documents", float64(w.Documents), 1, 1000), r.valid(stage)); err != nil {
		return err
	}
	var factors []docFactor
	if env.Words != nil && w.Strength+w.Coverage > 0 {
		pages, all := w.pages(r, env.Facts)
		if len(all) > 0 {
			words, err := env.Words(all)
			if err != nil {
				return err
			}
			factors = r.noFactors()
			for _, p := range pages {
				factors[p.doc].factor, factors[p.doc].ok = w.factor(words, p, r.why != nil)
			}
		}
	}
	return r.boostDocuments(stage, Add, factors)
}

// page is a document and where its places stand among those of all: its best hit
// first, then the others in its order.
type page struct {
	doc      int32
	from, to int
}

// pages are the first documents with all their places; none when each has one, which
// was looked at whole. Those of one place are left out where only other places count.
func (w Whole) pages(r *Row, facts Facts) (pages []page, all []sheaf.ID) {
	r.findDocuments(facts)
	most := min(w.Documents, r.documents)
	best, seen := r.best[:0], r.unmarked() // the best hit of each
	for _, k := range r.inOrder() {
		if len(best) == most {
			break
		}
		if doc := r.docs[k.at]; doc >= 0 && !seen[doc] {
			seen[doc] = true
			best = append(best, k.at)
		}
	}
	r.best, r.whole = best, sized(r.whole, len(best))
	several, n, outlines := false, 0, r.whole
	for i, at := range best {
		o := outlineOf(facts, r.nodes[at])
		if o == nil || len(o.Nodes) < 2 && w.Coverage == 0 {
			continue
		}
		outlines[i] = o
		several = several || len(o.Nodes) > 1
		if n += len(o.Nodes); len(o.Nodes) > MaxPlaces {
			n += MaxPlaces + 1 - len(o.Nodes)
		}
	}
	if !several {
		return nil, nil
	}
	r.touch(outlines)
	pages, all = r.pages[:0], slices.Grow(r.places[:0], n)
	for i, at := range best {
		if outlines[i] != nil {
			from := len(all)
			all = places(all, r.hits[at].ID, r.nodes[at], outlines[i])
			pages = append(pages, page{r.docs[at], from, len(all)})
		}
	}
	r.pages, r.places = pages, all
	return pages, all
}

// touch reads a little of the nodes of outlines, as fetch does of those of hits.
func (r *Row) touch(outlines []*sheaf.Outline) {
	read := 0
	for _, o := range outlines {
		if o != nil && len(o.Nodes) > 0 {
			read += o.Nodes[0].Depth + o.Nodes[len(o.Nodes)/2].Depth
		}
	}
	r.read = byte(read)
}

// places adds to all the best hit of a document, which stands at a node, and then its
// other places. The text of IDs is read only where the node is none of the outline's.
func places(all []sheaf.ID, best sheaf.ID, at *sheaf.Node, o *sheaf.Outline) []sheaf.ID {
	all = append(all, best)
	own := false
	for i := 0; i < len(o.Nodes) && !own; i++ {
		own = &o.Nodes[i] == at
	}
	for i := range o.Nodes[:min(len(o.Nodes), MaxPlaces)] {
		n := &o.Nodes[i]
		if n == at || !own && n.ID == best {
			continue
		}
		all = append(all, n.ID)
	}
	return all
}

// factor is what a document as a whole gives to its hits; false for nothing.
func (w Whole) factor(words []Word, p page, explain bool) (factor, bool) {
	more, adds := w.more(words, p, explain)
	covers, covered := w.covers(words, p, explain)
	switch {
	case !adds:
		return covers, covered
	case !covered:
		return more, true
	}
	f := factor{value: more.value + covers.value - 1}
	if explain {
		// Each is one and what it adds.
		why := combined("the whole document", f.value, sheaf.CombineSum, append(more.why.Parts, covers.why.Parts[1])...)
		f.why = &why
	}
	return f, true
}

// more is what other places add to those words that the best hit has.
func (w Whole) more(words []Word, p page, explain bool) (factor, bool) {
	total, gained, has := 0.0, 0.0, 0.0
	var parts []sheaf.Explanation
	for i := range words {
		word := &words[i]
		if word.Pair {
			continue
		}
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
	if !(total > 0) || !(gained > 0) {
		return factor{}, false
	}
	share := gained / total
	place := 1 - w.Place + w.Place*has/total
	raised := w.Strength * place * share
	switch {
	case !(raised > 0):
		return factor{}, false
	case !explain:
		return factor{value: 1 + raised}, true
	}
	worth := part("what the query is worth", total)
	why := combined("words of the whole document", 1+raised, sheaf.CombineSum, part("one", 1),
		combined("what other places add", raised, sheaf.CombineProduct, part("strength", w.Strength),
			combined("how far the best place lets them", place, sheaf.CombineSum, part("in any case", 1-w.Place),
				combined("for the best place", w.Place*has/total, sheaf.CombineProduct, part("place", w.Place),
					combined("share of the query in the best place", has/total, sheaf.CombineQuotient, part("words of the best place", has), worth))),
			combined("share of the query that other places add", share, sheaf.CombineQuotient,
				combined("words that other places add", gained, sheaf.CombineSum, parts...), worth)))
	return factor{value: 1 + raised, why: &why}, true
}

// covers is what it counts to have words and pairs of the query anywhere.
func (w Whole) covers(words []Word, p page, explain bool) (factor, bool) {
	var total, held [2]float64 // of words and of pairs
	var parts [2][]sheaf.Explanation
	for i := range words {
		word, kind := &words[i], 0
		if word.Pair {
			kind = 1
		}
		total[kind] += word.Worth
		if !stands(word.In[p.from:p.to]) {
			continue
		}
		held[kind] += word.Worth
		if explain {
			parts[kind] = append(parts[kind], part(fmt.Sprintf("%q", word.Text), word.Worth))
		}
	}
	share := 0.0
	for kind := range held {
		if total[kind] > 0 {
			share += held[kind] / total[kind]
		}
	}
	raised := w.Coverage * share
	if !(raised > 0) {
		return factor{}, false
	}
	if !explain {
		return factor{value: 1 + raised}, true
	}
	var shares []sheaf.Explanation
	for kind, name := range [...]string{"words", "words side by side"} {
		if held[kind] > 0 {
			shares = append(shares, combined("share of the query's "+name, held[kind]/total[kind], sheaf.CombineQuotient,
				combined(name+" in the document", held[kind], sheaf.CombineSum, parts[kind]...), part("all "+name, total[kind])))
		}
	}
	why := combined("what the document covers", 1+raised, sheaf.CombineSum, part("one", 1),
		combined("coverage", raised, sheaf.CombineProduct, part("coverage", w.Coverage), combined("shares of the query", share, sheaf.CombineSum, shares...)))
	return factor{value: 1 + raised, why: &why}, true
}

// stands reports whether a word stands in one of some places.
func stands(in []float64) bool {
	for _, x := range in {
		if x > 0 {
			return true
		}
	}
	return false
}

func (w Whole) saturated(x float64) float64 { return x * (1 + w.Saturation) / (x + w.Saturation) }
