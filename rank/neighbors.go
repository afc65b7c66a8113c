package rank

import (
	"cmp"
	"slices"

	"sheaf"
)

// Neighbors adds to every hit chunks of its document: Before chunks before the hit and After chunks after the hit.
// These chunks become constituents of the hit, in document order, after the constituents that the hit already has. A
// neighbor that is also a hit keeps its score; other neighbors have score 0.
type Neighbors struct{ Before, After int } // 0..100 each

// Apply implements [Stage].
func (n Neighbors) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("neighbours", in); err != nil {
		return nil, err
	}
	hits := make(map[sheaf.ID]*sheaf.Hit, len(in))
	for i := range in {
		hits[in[i].ID] = &in[i]
	}
	out := slices.Clone(in)
	for i := range out {
		h := &out[i]
		c, _ := env.Facts.Chunk(h.ID)
		d, ok := env.Facts.Document(c.Doc)
		if !ok {
			continue
		}
		seen := map[sheaf.ID]bool{h.ID: true}
		for _, inside := range h.Constituents {
			seen[inside.ID] = true
		}
		joined := slices.Clip(slices.Clone(h.Constituents))
		lo, hi := max(c.Position-n.Before, 0), min(c.Position+n.After+1, len(d.Chunks))
		for p := lo; p < hi; p++ {
			id := d.Chunks[p].ID
			if seen[id] {
				continue
			}
			beside := sheaf.Hit{ID: id}
			if hit := hits[id]; hit != nil {
				beside = *hit
				beside.Constituents = nil
			}
			joined = append(joined, beside)
		}
		h.Constituents = joined
	}
	return out, nil
}

// MergeAdjacent joins hits that are neighbors in their document into one hit. The best hit stays, with its score. The
// other hits become constituents of the best hit, best first.
//
// Example: the hits d1#7, d2#1, d1#6, d1#8 become d1#7 (with d1#6 and d1#8) and d2#1.
//
// Source: Onyx's merging of adjacent chunks into sections.
type MergeAdjacent struct{}

// Apply implements [Stage].
func (MergeAdjacent) Apply(in sheaf.Ranking, env Env) (sheaf.Ranking, error) {
	if err := env.check("merge_adjacent", in); err != nil {
		return nil, err
	}
	type place struct {
		doc      sheaf.ID
		position int
		rank     int
	}
	places := make([]place, 0, len(in))
	owner := make([]int, len(in)) // by rank: the rank of the best neighbor
	for i := range in {
		owner[i] = i
		if c, ok := env.Facts.Chunk(in[i].ID); ok {
			places = append(places, place{c.Doc, c.Position, i})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.doc, b.doc), cmp.Compare(a.position, b.position), cmp.Compare(a.rank, b.rank))
	})
	for start := 0; start < len(places); {
		end, best := start+1, places[start].rank
		for end < len(places) && places[end].doc == places[start].doc && places[end].position <= places[end-1].position+1 {
			best = min(best, places[end].rank)
			end++
		}
		for _, p := range places[start:end] {
			owner[p.rank] = best
		}
		start = end
	}
	members := make(map[int][]*sheaf.Hit)
	for i := range in {
		if owner[i] != i {
			members[owner[i]] = append(members[owner[i]], &in[i])
		}
	}
	out := make(sheaf.Ranking, 0, len(in))
	for i := range in {
		if owner[i] != i {
			continue
		}
		h := in[i]
		if joined := members[i]; joined != nil {
			h.Constituents = inside(h.ID, append([]*sheaf.Hit{&in[i]}, joined...))
		}
		out = append(out, h)
	}
	return out, nil
}

// Around picks consecutive chunks around the chunk number center. There are n chunks, numbered 0..n-1. Around picks at
// most limit chunks, equally many on both sides, or one chunk more before the center. If one side has too few chunks,
// the other side gets more. The picked chunks have the numbers from <= number < to. If limit is 0, Around picks no
// chunk.
//
// Example: of 10 chunks around chunk 5, it picks 4 and 5 for a limit of 2.
func Around(n, center, limit int) (from, to int) {
	if limit <= 0 || n <= 0 {
		return center, center
	}
	limit = min(limit, n)
	from = center - limit/2
	from = min(max(from, 0), n-limit)
	return from, from + limit
}
