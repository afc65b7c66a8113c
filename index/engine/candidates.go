package engine

import (
	"context"
	"slices"

	"sheaf"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
)

// allow computes the chunks of each view that a request allows, in memory of m. nil means all chunks.
func (s *Snapshot) allow(req *Request, m *queryMemory) ([]segment.Bitset, error) {
	if req.Within == nil {
		return s.among(req.Filter, nil, m)
	}
	if err := m.candidates.add(s, req); err != nil {
		return nil, err
	}
	return s.among(req.Filter, m.candidates.sets, m)
}

// among returns the chunks in the parameter within that pass a filter and are not deleted, for each view. nil means all
// chunks. Without a filter, among changes the sets in within. The result is in memory of m, and the caller must not
// change it.
func (s *Snapshot) among(filter sheaf.Filter, within []segment.Bitset, m *queryMemory) ([]segment.Bitset, error) {
	var let *filtered
	if filter != nil {
		var err error
		if let, err = s.filtered(filter); err != nil {
			return nil, err
		}
		if within == nil {
			return let.sets, nil
		}
	}
	allowed := slices.Grow(m.candidates.allowed[:0], len(s.views))
	for i, v := range s.views {
		var set segment.Bitset
		switch {
		case let != nil:
			set = slices.Clone(within[i])
			set.And(let.sets[i])
		case within != nil:
			if set = within[i]; v.deleted != nil {
				set.AndNot(v.deleted)
			}
		default:
			set = v.left()
		}
		allowed = append(allowed, set)
	}
	m.candidates.allowed = allowed
	return allowed, nil
}

// locate calls the function found with every place of an identifier, including places of deleted chunks.
func (s *Snapshot) locate(id string, found func(view int, ordinal uint32)) error {
	if at, ok := s.places.of(id); ok {
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
			s.places.put(id, place{i, ordinal})
		}
	}
	return nil
}

// withinSets has, for each view, the chunks that Within of a request names. Users of the sets may remove chunks. Only
// the method set adds chunks.
type withinSets struct {
	sets []segment.Bitset
	room []segment.Bitset // memory for sets; all bits are 0 except those in added
	// added lists the words of sets in which set has set a bit.
	added []setWord
	// allowed are the sets that a request allows.
	allowed []segment.Bitset
}

// setWord locates one word of a view's set.
type setWord struct {
	view int32
	at   uint32
}

// mostSetWords limits added. If it is exceeded, reset clears the whole sets.
const mostSetWords = 1 << 14

// reset empties the sets.
func (w *withinSets) reset() {
	if len(w.added) > mostSetWords {
		for _, set := range w.sets {
			clear(set)
		}
		w.added = nil
	}
	for _, word := range w.added {
		w.room[word.view][:cap(w.room[word.view])][word.at] = 0
	}
	clear(w.allowed) // drop sets that belong to the filters
	w.sets, w.added, w.allowed = w.sets[:0], w.added[:0], w.allowed[:0]
}

// begin makes an empty set for each view of a snapshot.
func (w *withinSets) begin(s *Snapshot) {
	for i, v := range s.views {
		words := (v.reader.Chunks() + 63) / 64
		if i == len(w.room) {
			w.room = append(w.room, nil)
		}
		if cap(w.room[i]) < words {
			w.room[i] = segment.NewBitset(v.reader.Chunks())
		}
		w.sets = append(w.sets, w.room[i][:words])
	}
}

// set adds a chunk.
func (w *withinSets) set(view int, ordinal uint32) {
	w.sets[view].Set(ordinal)
	if len(w.added) <= mostSetWords {
		w.added = append(w.added, setWord{int32(view), ordinal / 64})
	}
}

// add adds the chunks that Within of a request names.
func (w *withinSets) add(s *Snapshot, req *Request) error {
	w.begin(s)
	w.added = slices.Grow(w.added, min(len(req.Within), mostSetWords))
	for _, id := range req.Within {
		if err := s.locate(string(id), w.set); err != nil {
			return err
		}
	}
	return nil
}

// planOf makes the plan of a request by words, in memory of m.
func (s *Snapshot) planOf(req *Request, m *queryMemory) (*plan, error) {
	allowed, err := s.allow(req, m)
	if err != nil {
		return nil, err
	}
	return newPlan(s, req, allowed, m)
}

// matching returns the chunks in the sets allowed that match the words of a vector request. If the request has no
// words, it returns allowed.
func (s *Snapshot) matching(ctx context.Context, req *Request, allowed []segment.Bitset, m *queryMemory) (
	[]segment.Bitset, error,
) {
	if req.Words == nil {
		return allowed, nil
	}
	p, err := newPlan(s, req, allowed, m)
	if err != nil {
		return nil, err
	}
	return p.matched(ctx)
}

// matched returns every chunk that the plan's request matches, for each view. It computes no scores.
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

// matchFlat adds the chunks that have at least one of the terms.
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
