package engine

import (
	"context"
	"slices"
	"strings"

	"sheaf"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
)

// allow returns, for each view, the chunks that pass Filter and Within of a request. Deleted chunks never pass. A nil
// set means all chunks. The caller must not change the sets.
func (s *Snapshot) allow(req *Request) ([]segment.Bitset, error) {
	if req.Within == nil {
		return s.restrict(req.Filter, nil)
	}
	within := s.emptySets()
	for _, id := range req.Within {
		err := s.locate(string(id), func(view int, ordinal uint32) { within[view].Set(ordinal) })
		if err != nil {
			return nil, err
		}
	}
	return s.restrict(req.Filter, within)
}

// emptySets returns a set without chunks for each view.
func (s *Snapshot) emptySets() []segment.Bitset {
	sets := make([]segment.Bitset, len(s.views))
	for i, v := range s.views {
		sets[i] = segment.NewBitset(v.reader.Chunks())
	}
	return sets
}

// restrict returns, for each view, the chunks of the parameter within that pass a filter and are not deleted. A nil
// within has all chunks. A nil filter passes all chunks. A nil set in the result means all chunks. The caller must not
// change the result. restrict may change the sets of within, so the caller must not use these again.
func (s *Snapshot) restrict(filter sheaf.Filter, within []segment.Bitset) ([]segment.Bitset, error) {
	var let *filterResult
	if filter != nil {
		var err error
		if let, err = s.filterChunks(filter); err != nil {
			return nil, err
		}
		if within == nil {
			return let.sets, nil
		}
	}
	allowed := make([]segment.Bitset, len(s.views))
	for i, v := range s.views {
		switch {
		case let != nil:
			allowed[i] = slices.Clone(within[i])
			allowed[i].And(let.sets[i])
		case within != nil:
			if allowed[i] = within[i]; v.deleted != nil {
				allowed[i].AndNot(v.deleted)
			}
		default:
			allowed[i] = v.remaining()
		}
	}
	return allowed, nil
}

// locate calls found for every chunk with this identifier, including deleted chunks. If the cache has the identifier,
// locate calls found only for the chunk that is not deleted.
func (s *Snapshot) locate(id string, found func(view int, ordinal uint32)) error {
	if at, ok := s.places.placeOf(id); ok {
		found(at.view, at.ordinal)
		return nil
	}
	for i, v := range s.views {
		ordinal, ok, err := v.reader.Find(id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		found(i, ordinal)
		if v.deleted == nil || !v.deleted.Has(ordinal) { // the next word of the query needs the set again
			s.places.put(strings.Clone(id), place{i, ordinal})
		}
	}
	return nil
}

func (s *Snapshot) planOf(req *Request) (*plan, error) {
	allowed, err := s.allow(req)
	if err != nil {
		return nil, err
	}
	return newPlan(s, req, allowed)
}

// matching returns, for each view, the chunks in allowed that match the words of a vector request. If the request has
// no words, it returns allowed.
func (s *Snapshot) matching(ctx context.Context, req *Request, allowed []segment.Bitset) ([]segment.Bitset, error) {
	if req.Words == nil {
		return allowed, nil
	}
	p, err := newPlan(s, req, allowed)
	if err != nil {
		return nil, err
	}
	return p.matchingChunks(ctx)
}

// matchingChunks returns, for each view, every chunk that the plan's request matches. It computes no scores.
func (p *plan) matchingChunks(ctx context.Context) ([]segment.Bitset, error) {
	sets := p.snapshot.emptySets()
	for i := range sets {
		var err error
		if terms, flat := p.root.flat(); flat {
			err = p.matchFlat(sets[i], terms, i)
		} else {
			err = p.matchNodes(ctx, sets[i], i)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// matchFlat adds to set the chunks of a view that have at least one of the terms.
func (p *plan) matchFlat(set segment.Bitset, terms []*planTerm, view int) error {
	clauses, err := p.appendClauses(nil, terms, view)
	if err != nil {
		return err
	}
	defer closeClauses(clauses)
	for i := range clauses {
		c := clauses[i].cursor
		for docs := c.Block(); len(docs) > 0; docs = c.Block() {
			for _, o := range docs {
				set.Set(o)
			}
			c.NextBlock()
		}
	}
	if allowed := p.allowed[view]; allowed != nil {
		set.And(allowed)
	}
	return faultOf(p.snapshot.views[view], clauses)
}

// matchNodes adds to set the chunks of a view that the query's node finds.
func (p *plan) matchNodes(ctx context.Context, set segment.Bitset, view int) error {
	root, err := p.root.node(p, view)
	if err != nil {
		return err
	}
	defer root.close()
	allowed := p.allowed[view]
	for at, n := uint32(0), 1; ; at, n = at+1, n+1 {
		if allowed != nil {
			next := allowed.Next(int(at))
			if next < 0 {
				break
			}
			at = uint32(next)
		}
		if at = root.seek(at); at == postings.End || n%65536 == 0 && ctx.Err() != nil {
			break
		}
		if allowed == nil || allowed.Has(at) {
			set.Set(at)
		}
	}
	return root.err()
}
