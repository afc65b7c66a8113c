package rank

import "sheaf"

// PerDocument keeps the best Max hits of every document, so that one document cannot fill the answer. If the document
// of a hit is unknown, the hit counts as a document of its own. If a document's only section has the document's title,
// document and section have the same text. Of these two hits, PerDocument keeps only the better hit.
//
// Example, Max 2: the note "Tea" has one section "Tea", with the sub-sections Green and Black. The hits are Tea (the
// document) 9, Tea (the section) 8, Green 5 and Black 4. PerDocument keeps the document and Green.
type PerDocument struct{ Max int } // 1 or more

// Apply implements [Stage].
func (p PerDocument) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("per_document", in); err != nil {
		return nil, err
	}
	counts := make(map[sheaf.ID]int, len(in))
	wholes := map[sheaf.ID]bool{} // documents whose whole text is among the hits
	out := make(sheaf.Ranking, 0, len(in))
	for i := range in {
		doc, whole := in[i].ID, false
		if n := env.Facts.Node(in[i].ID); n != nil {
			doc, whole = n.Doc, isWhole(n, env.Facts)
		}
		if counts[doc] == p.Max || whole && wholes[doc] {
			continue
		}
		counts[doc]++
		if whole {
			wholes[doc] = true
		}
		out = append(out, in[i])
	}
	return out, nil
}

// isWhole reports whether a chunk has the whole text of its document. Such a chunk is the document itself, or the
// document's only section if both have the same title.
func isWhole(c *sheaf.Node, facts Facts) bool {
	if c.Parent == "" || c.SiblingCount != 1 {
		return c.Parent == ""
	}
	above := c.Above
	if above == nil {
		above = facts.Node(c.Parent)
	}
	return above != nil && above.Parent == "" && c.Title == above.Title
}

// MMR orders the first N hits by marginal relevance. It repeatedly takes the hit with the largest
//
//	Lambda * relevance - (1 - Lambda) * (largest similarity to a hit taken before)
//
// where relevance is the score mapped to 0..1 over these N hits. This value becomes the score of the hit. The values
// never rise, so the hits stay sorted. MMR drops the hits after the first N.
//
// The similarity of two chunks says how near they are in the heading tree. It is 0 for chunks of different documents.
// Otherwise the paths from the document to the two chunks begin with the same chunks. The similarity is the number of
// these chunks, divided by the length of the longer path. For two sections under different headings of level 1 it is
// 1/2. For two sections of level 2 under the same heading it is 2/3.
//
// Source: Carbonell and Goldstein: The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing
// Summaries (SIGIR 1998).
type MMR struct {
	Lambda float64 // 0..1; 1 keeps the order
	N      int     // 1..1000: the work grows with its square
}

// Apply implements [Stage].
func (m MMR) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("mmr", in); err != nil {
		return nil, err
	}
	in = in[:min(m.N, len(in))]
	scores := make([]float64, len(in))
	paths := make([][]sheaf.ID, len(in))
	for i := range in {
		scores[i] = in[i].Score
		paths[i] = treePath(in[i].ID, env.Facts)
	}
	relevance := measure(NormMinMax, "scores", scores)
	nearest := make([]float64, len(in)) // by hit: the largest similarity to a hit taken before
	taken := make([]bool, len(in))
	out := make(sheaf.Ranking, 0, len(in))
	for range in {
		best, bestValue := -1, 0.0
		for i := range in {
			if v := m.Lambda*relevance.value(in[i].Score) - (1-m.Lambda)*nearest[i]; !taken[i] && (best < 0 || v > bestValue) {
				best, bestValue = i, v
			}
		}
		taken[best] = true
		h := in[best]
		h.Score = bestValue
		if h.Explanation != nil {
			h.Explanation = new(m.explain(&relevance, &in[best], bestValue, nearest[best]))
		}
		out = append(out, h)
		for i := range in {
			if !taken[i] {
				nearest[i] = max(nearest[i], pathSimilarity(paths[i], paths[best]))
			}
		}
	}
	out.Sort()
	return out, nil
}

func (m MMR) explain(s *statistics, h *sheaf.Hit, v, nearest float64) sheaf.Explanation {
	relevance := s.explain(h.Score, *h.Explanation)
	return combined("marginal relevance", v, sheaf.CombineDifference,
		combined("relevance", m.Lambda*relevance.Value, sheaf.CombineProduct, part("lambda", m.Lambda), relevance),
		called(combined("repetition", (1-m.Lambda)*nearest, sheaf.CombineProduct, part("1 - lambda", 1-m.Lambda),
			part("similarity to a hit above", nearest)), sheaf.KindRepetition, nil))
}

// treePath returns the chunks on the path from id up to its document, beginning with id.
func treePath(id sheaf.ID, facts Facts) []sheaf.ID {
	path := []sheaf.ID{id}
	c, ok := facts.Chunk(id)
	for depth := c.Depth; ok && c.Parent != ""; depth = c.Depth {
		if c, ok = facts.Chunk(c.Parent); !ok || c.Depth >= depth {
			break
		}
		path = append(path, c.ID)
	}
	return path
}

// pathSimilarity returns the similarity of two chunks whose paths are a and b.
func pathSimilarity(a, b []sheaf.ID) float64 {
	common := 0
	for common < len(a) && common < len(b) && a[len(a)-1-common] == b[len(b)-1-common] {
		common++
	}
	return float64(common) / float64(max(len(a), len(b)))
}
