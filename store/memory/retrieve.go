package memory

import (
	"context"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Retrieve implements store.Backend.
func (b *Backend) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	all, err := b.matches(ctx, req, true)
	if err != nil {
		return nil, err
	}
	all.Sort()
	return all[:min(len(all), req.Limit)], nil
}

// Matches implements store.Matcher.
func (b *Backend) Matches() bool { return true }

// Count implements store.Counter.
func (b *Backend) Count(ctx context.Context, req store.Request) (int, error) {
	all, err := b.matches(ctx, req, false)
	return len(all), err
}

// matches returns every hit of a request, in no order. Hits have no scores unless scores is true.
func (b *Backend) matches(ctx context.Context, req store.Request, scores bool) (all sheaf.Ranking, err error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	err = b.read(ctx, func() (err error) {
		all, err = b.find(req, scores)
		return err
	})
	return all, err
}

// read calls f while no write changes the chunks. If the store is closed, or ctx has ended, it fails without calling f.
func (b *Backend) read(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return errClosed
	}
	return f()
}

// find does the work of matches. The caller must hold b.mu.
func (b *Backend) find(req store.Request, scores bool) (sheaf.Ranking, error) {
	allowed := b.allowedChunks(req)
	if req.Vector != nil {
		return b.similar(req.Vector, allowed)
	}
	var s *scorer
	if scores {
		s = b.scorer(&req, allowed)
	} else {
		s = b.matcher(req.Text)
	}
	var out sheaf.Ranking
	blanks := matchesBlank(s.plan.Root)
	for _, c := range allowed {
		if c.blank && !blanks {
			continue
		}
		if hit, ok := s.hit(c); ok {
			out = append(out, hit)
		}
	}
	return out, nil
}

// matchesBlank reports whether n may match a chunk without any word of the query, as a Bool with All does.
func matchesBlank(n storekit.Node) bool {
	b, ok := n.(storekit.Bool)
	return ok && (b.All || slices.ContainsFunc(b.Must, matchesBlank) || slices.ContainsFunc(b.Should, matchesBlank))
}

// allowedChunks returns the chunks that pass the request's Filter, Within and Matching.
func (b *Backend) allowedChunks(req store.Request) []*chunk {
	within := map[sheaf.ID]bool{}
	for _, id := range req.Within {
		within[id] = true
	}
	out := []*chunk{}
	for id, c := range b.chunks {
		if (req.Within == nil || within[id]) && (req.Filter == nil || req.Filter.Match(c)) {
			out = append(out, c)
		}
	}
	if req.Vector != nil && req.Vector.Matching != nil {
		s := b.matcher(req.Vector.Matching)
		out = slices.DeleteFunc(out, func(c *chunk) bool { _, ok := s.hit(c); return !ok })
	}
	return out
}

// similar returns a hit for each allowed chunk with vectors in the field. Its score is the score of its best passage.
func (b *Backend) similar(req *store.VectorRequest, allowed []*chunk) (sheaf.Ranking, error) {
	if _, err := (store.VectorField{Dims: b.dims[req.Field]}).Answers(req); err != nil {
		return nil, err
	}
	var out sheaf.Ranking
	for _, c := range allowed {
		if score, passage, ok := c.best(req); ok {
			out = append(out, sheaf.Hit{ID: c.id, Score: score, Passage: passage})
		}
	}
	return out, nil
}

// best returns the similarity and the index of the best passage. Of equally similar passages it returns the first. ok
// is false if the chunk has no passages in the request's field.
func (c *chunk) best(req *store.VectorRequest) (score float64, passage int, ok bool) {
	for _, v := range c.vectors {
		if v.Name != req.Field {
			continue
		}
		for i, p := range v.Passages {
			var dot float64
			for j, x := range p {
				dot += float64(x) * float64(req.Vector[j])
			}
			if !ok || dot > score {
				score, passage, ok = dot, i, true
			}
		}
	}
	return score, passage, ok
}

// Explain implements store.Explainer.
func (b *Backend) Explain(ctx context.Context, req store.Request, ids []sheaf.ID) ([]*sheaf.Explanation, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, errClosed
	}
	allowed := b.allowedChunks(req)
	byID := map[sheaf.ID]*chunk{}
	for _, c := range allowed {
		byID[c.id] = c
	}
	var s *scorer
	if req.Text != nil {
		s = b.scorer(&req, allowed)
		s.explains = true
	}
	out := make([]*sheaf.Explanation, len(ids))
	for i, id := range ids {
		c := byID[id]
		switch {
		case c == nil:
		case s != nil:
			out[i] = s.explain(c)
		default:
			if score, passage, ok := c.best(req.Vector); ok {
				out[i] = &sheaf.Explanation{Label: fmt.Sprintf("similarity of %s, passage %d", req.Vector.Field, passage),
					Value: score,
					Kind:  sheaf.KindSimilarity, Details: map[string]sheaf.Value{"field": sheaf.TextValue(req.Vector.Field),
						"passage": sheaf.NumberValue(float64(passage))}}
			}
		}
	}
	return out, ctx.Err()
}
