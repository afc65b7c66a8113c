package engine

import (
	"context"

	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
)

// plan resolves a request by words.
func (s *Snapshot) plan(req Request) (*plan, error) {
	allowed, err := s.allow(req)
	if err != nil {
		return nil, err
	}
	return newPlan(s, &req, s.analyzer(), allowed)
}

// matching are, for each view, those of allowed that match the words of a request by
// vector, all of them where it has no words.
func (s *Snapshot) matching(ctx context.Context, req *Request, allowed []segment.Bitset) ([]segment.Bitset, error) {
	if req.Words == nil {
		return allowed, nil
	}
	p, err := newPlan(s, req, s.analyzer(), allowed)
	if err != nil {
		return nil, err
	}
	defer p.release()
	return p.matched(ctx)
}

// matched finds, for each view, every chunk that the plan's request matches,
// without scoring any.
func (p *plan) matched(ctx context.Context) ([]segment.Bitset, error) {
	views := p.snapshot.views
	sets := make([]segment.Bitset, len(views))
	for i, v := range views {
		var err error
		sets[i] = segment.NewBitset(v.reader.Chunks())
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

// matchFlat adds the chunks that hold one of the terms, list after list.
func (p *plan) matchFlat(set segment.Bitset, terms []*planTerm, view int) error {
	clauses, err := p.clauses(terms, view, false)
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

// matchNodes adds the chunks that the query's node finds.
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
