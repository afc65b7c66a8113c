package engine

import (
	"context"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
	"sheaf/index/engine/vector"
)

// Search answers a request. It returns at most Limit hits, best first. Hits with equal scores are in order of
// identifier.
func (s *Snapshot) Search(ctx context.Context, req Request) (sheaf.Ranking, error) {
	allowed, err := s.allow(&req)
	if err != nil || req.Limit <= 0 {
		return nil, err
	}
	s.index.searching.Add(1)
	defer s.index.searching.Add(-1)
	top := newCollector(s, req.Limit)
	if req.Vector != nil {
		if allowed, err = s.matching(ctx, &req, allowed); err == nil {
			err = s.nearest(ctx, req.Vector, allowed, top)
		}
	} else {
		err = s.best(ctx, &req, allowed, top)
	}
	if err != nil {
		return nil, err
	}
	return top.hits()
}

func (s *Snapshot) best(ctx context.Context, req *Request, allowed []segment.Bitset, top *collector) error {
	p, err := newPlan(s, req, allowed)
	if err != nil {
		return err
	}
	terms, flat := p.root.flat()
	var pruned []*maxScore
	defer func() {
		for _, m := range pruned {
			m.close()
		}
	}()
	for _, i := range s.largestFirst {
		if err := ctx.Err(); err != nil {
			return err
		}
		if flat && !few(allowed[i], s.views[i], req.Limit) {
			m, err := p.maxScore(terms, i, top)
			if err != nil {
				return err
			}
			pruned = append(pruned, m)
			continue
		}
		root, err := p.root.node(p, i)
		if err != nil {
			return err
		}
		p.exhaust(ctx, i, root, func(ordinal uint32, score float64) {
			top.offer(unreadHit{score: score, view: i, ordinal: ordinal})
		})
		err = root.err()
		root.close()
		if err != nil {
			return err
		}
	}
	return p.prune(ctx, terms, pruned, req.Work)
}

// few reports whether allowed has so few chunks of the view that visiting each of them is cheapest. If the limit covers
// all allowed chunks, visiting pays off sooner, because no chunk can be skipped.
func few(allowed segment.Bitset, v *view, limit int) bool {
	if allowed == nil {
		return false
	}
	n := allowed.Count()
	return n < v.live/256 || n <= limit && n < v.live/24
}

// exhaust calls yield for every allowed match of a view, in the order of ordinals. If ctx ends, exhaust returns early,
// without an error.
func (p *plan) exhaust(ctx context.Context, view int, root node, yield func(ordinal uint32, score float64)) {
	s := scores{byField: make([]float64, len(p.fields))}
	allowed := p.allowed[view]
	for at, n := uint32(0), 1; ; at, n = at+1, n+1 {
		if allowed != nil {
			next := allowed.Next(int(at))
			if next < 0 {
				return
			}
			at = uint32(next)
		}
		at = root.seek(at)
		if at == postings.End || n%65536 == 0 && ctx.Err() != nil {
			return
		}
		if allowed == nil || allowed.Has(at) {
			root.score(&s)
			yield(at, s.total(p.words))
		}
	}
}

func (s *Snapshot) nearest(ctx context.Context, req *Vector, allowed []segment.Bitset, top *collector) error {
	var near []vector.Neighbor
	for _, i := range s.largestFirst {
		v := s.views[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		index := v.reader.VectorField(req.Field)
		if index == nil {
			continue
		}
		if d := index.Field().Dims; d != len(req.Vector) {
			return fmt.Errorf("%w: vector field %q has %d dimensions, the request's vector %d", ErrMismatch, req.Field, d,
				len(req.Vector))
		}
		var err error
		o := vector.Options{Exact: req.Exact, Threshold: top.threshold(), Bounded: true}
		if depth := index.Field().Depth; req.Candidates > 0 && depth != (vector.Depth{}) {
			o.Survivors = max(req.Candidates, depth.At(top.limit))
		}
		if near, err = index.Search(ctx, near[:0], req.Vector, allowed[i], top.limit, o); err != nil {
			return err
		}
		for _, n := range slices.Backward(near) { // rising scores keep the heap in order
			if n.Score >= top.threshold() {
				top.offer(unreadHit{score: n.Score, view: i, ordinal: n.Ordinal, passage: n.Passage})
			}
		}
	}
	return nil
}

// countTerm returns how many chunks match the request, from the statistics of its only term. It returns false if the
// request has several terms, or if no statistic counts exactly the matching chunks.
func (p *plan) countTerm() (int, bool) {
	terms, flat := p.root.flat()
	if !flat || len(terms) != 1 || p.words.Candidates || p.words.Among != nil ||
		len(terms[0].fields) > 1 && p.words.Combine != CombineBM25F {
		return 0, false
	}
	return terms[0].df[0], true
}

// Count returns how many chunks a request matches, without Limit. A request by vector matches the allowed chunks with a
// vector.
func (s *Snapshot) Count(ctx context.Context, req Request) (int, error) {
	count := 0
	if req.Vector != nil {
		allowed, err := s.allow(&req)
		if err != nil {
			return 0, err
		}
		if allowed, err = s.matching(ctx, &req, allowed); err != nil {
			return 0, err
		}
		for i, v := range s.views {
			if index := v.reader.VectorField(req.Vector.Field); index != nil {
				n, err := index.Count(allowed[i])
				if err != nil {
					return 0, err
				}
				count += n
			}
		}
		return count, nil
	}
	p, err := s.planOf(&req)
	if err != nil {
		return 0, err
	}
	if req.Filter == nil && req.Within == nil {
		if n, ok := p.countTerm(); ok {
			return n, nil
		}
	}
	sets, err := p.matchingChunks(ctx)
	for _, set := range sets {
		count += set.Count()
	}
	return count, err
}
