package search

import (
	"context"
	"slices"

	"sheaf"
)

// maxBelow limits the chunks that one search checks for forbidden words. Every store can return so many hits.
const maxBelow = 1000

// dropForbidden drops the hits with a sub-section that has a forbidden word. A store checks only the own text of a
// chunk, but a hit shows its sub-sections too. Without a branch by words, dropForbidden does nothing.
func (r *run) dropForbidden(ctx context.Context, outcomes []outcome) error {
	words, _ := r.query.Words.(sheaf.Bool)
	byWords := slices.IndexFunc(outcomes, func(o outcome) bool { return o.request.Text != nil })
	if len(words.MustNot) == 0 || byWords < 0 {
		return nil
	}
	below, above := r.chunksBelow(outcomes)
	if len(below) == 0 {
		return nil
	}
	req := outcomes[byWords].request
	text := *req.Text
	text.Query = sheaf.Bool{Should: words.MustNot}
	req.Text, req.Within, req.Limit = &text, below, len(below)
	found, err := r.searcher.Backend.Retrieve(ctx, req)
	if err != nil {
		return err
	}
	r.refused = map[sheaf.ID]bool{}
	for _, h := range found {
		for _, id := range above[h.ID] {
			r.refused[id] = true
		}
	}
	for i := range outcomes {
		outcomes[i].ranking = slices.DeleteFunc(slices.Clone(outcomes[i].ranking),
			func(h sheaf.Hit) bool { return r.refused[h.ID] })
	}
	return nil
}

// chunksBelow returns the chunks below the hits, at most maxBelow, and the hits above each of these chunks.
func (r *run) chunksBelow(outcomes []outcome) (below []sheaf.ID, above map[sheaf.ID][]sheaf.ID) {
	hits, docs := map[sheaf.ID]bool{}, map[sheaf.ID]bool{}
	for _, o := range outcomes {
		for i := range o.ranking {
			hits[o.ranking[i].ID] = true
		}
	}
	above = map[sheaf.ID][]sheaf.ID{}
	for _, o := range outcomes {
		for i := range o.ranking {
			n := r.facts.Node(o.ranking[i].ID)
			if n == nil || docs[n.Doc] || len(below) >= maxBelow {
				continue
			}
			docs[n.Doc] = true
			outline := r.facts.Outline(n.Doc)
			if outline == nil {
				continue
			}
			for k := range outline.Nodes {
				m := &outline.Nodes[k]
				for a := m.Above; a != nil; a = a.Above {
					if hits[a.ID] {
						above[m.ID] = append(above[m.ID], a.ID)
					}
				}
				if above[m.ID] != nil {
					below = append(below, m.ID)
				}
			}
		}
	}
	return below[:min(len(below), maxBelow)], above
}
