package vespa

import (
	"context"
	"fmt"
	"maps"

	"sheaf"
	"sheaf/store"
)

// Hybrid is a query that the server ranks in two phases, as the profile onyx-vespa does: for
// applications with [Options.Ranking].
type Hybrid struct {
	// Words are matched in title and content; Vector is compared with the vectors of both.
	Words  sheaf.TextQuery
	Vector []float32
	// Keyword means that the query is a list of keywords. Then the first phase ranks by words, else
	// by vectors.
	Keyword bool
	// Filter and Within restrict the hits, as in store.Request.
	Filter sheaf.Filter
	Within []sheaf.ID
	// Alpha weighs meaning against words, Ratio the title against the content. Decay is the rate at
	// which documents lose score with age.
	Alpha, Ratio, Decay float64
	// TargetHits is the number of chunks that each vector retrieves, at least Rerank. Rerank is the
	// number of chunks in the second phase. Limit is the number of returned chunks, at most Rerank.
	TargetHits, Rerank, Limit int
}

func (h *Hybrid) validate() error {
	for name, v := range map[string]float64{"alpha": h.Alpha, "title_content_ratio": h.Ratio} {
		if !(v >= 0 && v <= 1) {
			return sheaf.Invalidf("hybrid: %s is %v: must be within 0..1", name, v)
		}
	}
	switch {
	case !(h.Decay >= 0 && h.Decay <= 1000):
		return sheaf.Invalidf("hybrid: decay_factor is %v: must be within 0..1000", h.Decay)
	case h.TargetHits < 1 || h.TargetHits > store.MaxLimit:
		return sheaf.Invalidf("hybrid: target_hits is %d: must be within 1..%d", h.TargetHits, store.MaxLimit)
	case h.Rerank < 1 || h.Rerank > store.MaxLimit:
		return sheaf.Invalidf("hybrid: rerank_count is %d: must be within 1..%d", h.Rerank, store.MaxLimit)
	case h.TargetHits < h.Rerank:
		return sheaf.Invalidf("hybrid: target_hits is %d: must be at least rerank_count, which is %d", h.TargetHits, h.Rerank)
	case h.Limit < 1 || h.Limit > h.Rerank:
		return sheaf.Invalidf("hybrid: limit is %d: must be within 1..%d, what the second phase ranks", h.Limit, h.Rerank)
	}
	return nil
}

// hybrid returns the query of h.
func (s *Store) hybrid(h *Hybrid) (*query, error) {
	if err := h.validate(); err != nil {
		return nil, err
	}
	dims, err := s.o.hybridDims()
	if err != nil {
		return nil, err
	}
	text := &store.TextRequest{Query: h.Words, K1: s.o.K1, B: s.o.B,
		Fields: []store.FieldWeight{{Name: sheaf.FieldTitle, Weight: 1}, {Name: sheaf.FieldBody, Weight: 1}}}
	for _, req := range []store.Request{{Text: text, Filter: h.Filter, Within: h.Within, Limit: h.Limit},
		{Vector: &store.VectorRequest{Vector: h.Vector}, Limit: h.Limit}} {
		if err := req.Validate(); err != nil {
			return nil, err
		}
	}
	if len(h.Vector) != dims {
		return nil, sheaf.Invalidf("hybrid: the vector has %d dimensions, the schema has %d", len(h.Vector), dims)
	}
	q := newQuery(s.o.Schema)
	bounds, err := s.bounds(q, h.Filter, h.Within)
	if err != nil {
		return nil, err
	}
	w, err := s.words(q, text, true)
	if err != nil {
		return nil, err
	}
	var branches []string
	for _, v := range s.o.Vectors {
		if v.Name == store.VectorBody || v.Name == store.VectorTitle {
			branches = append(branches, s.nearest(v, h.TargetHits))
		}
	}
	q.where = and(or(append(branches, w.match)...), bounds)
	kind := "semantic"
	if h.Keyword {
		kind = "keyword"
	}
	maps.Copy(q.body, object{"hits": h.Limit, "presentation.summary": "hit",
		"ranking.profile":                 fmt.Sprintf("hybrid_search_%s_base_%d", kind, dims),
		"ranking.globalPhase.rerankCount": h.Rerank, "input.query(query_embedding)": h.Vector, "input.query(alpha)": h.Alpha,
		"input.query(title_content_ratio)": h.Ratio, "input.query(decay_factor)": h.Decay})
	return q, nil
}

// nearest returns the operator that finds the vectors nearest to the query's vector.
func (s *Store) nearest(v store.VectorField, hits int) string {
	return fmt.Sprintf("({targetHits:%d,approximate:%t}nearestNeighbor(%s, query_embedding))", hits, s.o.HNSW,
		vectorField(v.Name))
}

// Hybrid answers a query with one request and Vespa's own ranking in two phases. On one content
// node and without [Options.HNSW] it equals the profile onyx-vespa, except for differences in BM25
// and in the limits of the first phase: see doc/stores.md. Returned hits with equal scores are
// ordered by ID.
func (s *Store) Hybrid(ctx context.Context, h Hybrid) (sheaf.Ranking, error) {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	q, err := s.hybrid(&h)
	if err != nil || q.where == nothing {
		return nil, err
	}
	found, err := s.search(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make(sheaf.Ranking, 0, len(found.Root.Children))
	for _, child := range found.Root.Children {
		hit, fields, err := s.read(child)
		if err != nil {
			return nil, err
		}
		hit.Passage = fields.closest("embeddings")
		hit.Explanation = factors(fields, hit.Score)
		out = append(out, hit)
	}
	out.Sort()
	return out, nil
}

// factors returns the factors of the second phase, from the match features.
func factors(fields hitFields, score float64) *sheaf.Explanation {
	root := &sheaf.Explanation{Label: "global phase", Value: score, Combine: sheaf.CombineProduct}
	base := score
	for _, name := range []string{"document_boost", "recency_bias", "aggregated_chunk_boost"} {
		v, ok := fields.number(name)
		if !ok || v == 0 {
			return &sheaf.Explanation{Label: "global phase", Value: score}
		}
		base /= v
		root.Parts = append(root.Parts, sheaf.Explanation{Label: name, Value: v})
	}
	root.Parts = append([]sheaf.Explanation{{Label: "signals, normalized and mixed", Value: base}}, root.Parts...)
	return root
}
