package engine

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"sheaf"
	"sheaf/index/engine/segment"
)

// Order is an order of chunks by their values in a column. For a chunk with several values, the value that comes first
// counts. Chunks without a value come last. Chunks with equal values are in order of identifier.
type Order struct {
	Column     string
	Descending bool
}

// keyedChunk is a chunk and its value in the column of an Order; key is nil without a value.
type keyedChunk struct {
	key     []byte
	view    int
	ordinal uint32
	id      string
	score   float64
}

// Sorted returns the first chunks that match a word request, at most req.Limit. The parameter by is their order. Their
// scores are the scores that Search gives.
func (s *Snapshot) Sorted(ctx context.Context, req Request, by Order) (sheaf.Ranking, error) {
	p, err := s.planOf(&req)
	if err != nil || req.Limit <= 0 {
		return nil, err
	}
	sets, err := p.matchingChunks(ctx)
	if err != nil {
		return nil, err
	}
	var all []keyedChunk
	for i := range s.views {
		of, err := s.firstOf(ctx, i, sets[i], by, req.Limit)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b keyedChunk) int {
		if (a.key == nil) != (b.key == nil) {
			if a.key == nil {
				return 1
			}
			return -1
		}
		order := bytes.Compare(a.key, b.key)
		if by.Descending {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.id, b.id))
	})
	all = all[:min(len(all), req.Limit)]
	if err := p.scoreOf(all); err != nil {
		return nil, err
	}
	hits := make(sheaf.Ranking, len(all))
	for i, k := range all {
		hits[i] = sheaf.Hit{ID: sheaf.ID(k.id), Score: k.score}
	}
	return hits, nil
}

// firstOf returns the first chunks of a set, at most limit, in the order that the parameter by describes. The set has
// chunks of one view; firstOf empties it.
func (s *Snapshot) firstOf(ctx context.Context, view int, set segment.Bitset, by Order,
	limit int) ([]keyedChunk, error) {
	r := s.views[view].reader
	var out []keyedChunk
	var group []uint32
	var fault error
	err := r.EachValue(by.Column, by.Descending, func(value []byte, runs []uint32) bool {
		group = group[:0]
		for i := 0; i < len(runs); i += 2 {
			for o := set.Next(int(runs[i])); o >= 0 && o < int(runs[i+1]); o = set.Next(o + 1) {
				set.Clear(uint32(o)) // a later value of the chunk does not count
				group = append(group, uint32(o))
			}
		}
		if len(group) > 0 {
			out, fault = s.appendGroup(out, bytes.Clone(value), view, group, limit)
		}
		return len(out) < limit && fault == nil && ctx.Err() == nil
	})
	if err = cmp.Or(err, fault, ctx.Err()); err != nil || len(out) >= limit {
		return out, err
	}
	group = group[:0]
	for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
		group = append(group, uint32(o))
	}
	return s.appendGroup(out, nil, view, group, limit)
}

// appendGroup appends the chunks of group, which have the same value. If the result would then have more than limit
// chunks, it appends only those with the first identifiers.
func (s *Snapshot) appendGroup(out []keyedChunk, key []byte, view int, group []uint32,
	limit int) ([]keyedChunk, error) {
	r := s.views[view].reader
	if len(out)+len(group) > limit {
		ranked := make([]uint64, len(group))
		for i, o := range group {
			rank, err := r.Rank(o)
			if err != nil {
				return out, err
			}
			ranked[i] = uint64(rank)<<32 | uint64(o)
		}
		slices.Sort(ranked)
		group = group[:limit-len(out)]
		for i := range group {
			group[i] = uint32(ranked[i])
		}
	}
	for _, o := range group {
		id, err := r.ID(nil, o)
		if err != nil {
			return out, err
		}
		out = append(out, keyedChunk{key: key, view: view, ordinal: o, id: string(id)})
	}
	return out, nil
}

// scoreOf computes the scores of chunks, which must match the request.
func (p *plan) scoreOf(chunks []keyedChunk) error {
	order := make([]*keyedChunk, len(chunks))
	for i := range chunks {
		order[i] = &chunks[i]
	}
	slices.SortFunc(order, func(a, b *keyedChunk) int {
		return cmp.Or(cmp.Compare(a.view, b.view), cmp.Compare(a.ordinal, b.ordinal))
	})
	scores := scores{byField: make([]float64, len(p.fields))}
	for len(order) > 0 {
		view := order[0].view
		root, err := p.root.node(p, view)
		if err != nil {
			return err
		}
		for ; len(order) > 0 && order[0].view == view; order = order[1:] {
			if root.seek(order[0].ordinal) == order[0].ordinal {
				root.score(&scores)
				order[0].score = scores.total(p.words)
			}
		}
		err = root.err()
		root.close()
		if err != nil {
			return err
		}
	}
	return nil
}
