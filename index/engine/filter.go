package engine

import (
	"sheaf/index/engine/segment"
)

// Filter says which chunks may be found. The set is closed: And, Or, Not, In,
// Range, Exists, HasPrefix. Values of different kinds are never equal.
type Filter interface {
	// add adds to set the chunks of a segment that match. live are all
	// chunks.
	add(set segment.Bitset, r *segment.Reader, pool *bitsets) error
	// appendKey adds what tells it from other filters.
	appendKey(b []byte) []byte
}

// And matches when every part does.
type And []Filter

// Or matches when at least one part does.
type Or []Filter

// Not matches when its part does not.
type Not struct{ Filter Filter }

// In matches when a value of the column equals one of Values.
type In struct {
	Column string
	Values []segment.Value
}

// Range matches when a value of the column has this kind and lies within the
// bounds; at least one is given.
type Range struct {
	Column    string
	Kind      byte
	Low, High *segment.Bound
}

// Exists matches when the column has a value.
type Exists struct{ Column string }

// HasPrefix matches when a value of the column begins with the text of Prefix,
// and has its kind.
type HasPrefix struct {
	Column string
	Prefix segment.Value
}

func (f And) add(set segment.Bitset, r *segment.Reader, pool *bitsets) error {
	all := pool.get(r.Chunks())
	defer pool.put(all)
	all.Fill(r.Chunks())
	for _, part := range f {
		one := pool.get(r.Chunks())
		err := part.add(one, r, pool)
		all.And(one)
		pool.put(one)
		if err != nil {
			return err
		}
	}
	set.Or(all)
	return nil
}

func (f Or) add(set segment.Bitset, r *segment.Reader, pool *bitsets) error {
	for _, part := range f {
		if err := part.add(set, r, pool); err != nil {
			return err
		}
	}
	return nil
}

func (f Not) add(set segment.Bitset, r *segment.Reader, pool *bitsets) error {
	one := pool.get(r.Chunks())
	defer pool.put(one)
	if err := f.Filter.add(one, r, pool); err != nil {
		return err
	}
	all := pool.get(r.Chunks())
	defer pool.put(all)
	all.Fill(r.Chunks())
	all.AndNot(one)
	set.Or(all)
	return nil
}

func (f In) add(set segment.Bitset, r *segment.Reader, _ *bitsets) error {
	for _, v := range f.Values {
		if err := r.ColumnEquals(set, f.Column, v); err != nil {
			return err
		}
	}
	return nil
}

func (f Range) add(set segment.Bitset, r *segment.Reader, _ *bitsets) error {
	return r.ColumnRange(set, f.Column, f.Kind, f.Low, f.High)
}

func (f Exists) add(set segment.Bitset, r *segment.Reader, _ *bitsets) error {
	return r.ColumnExists(set, f.Column)
}

func (f HasPrefix) add(set segment.Bitset, r *segment.Reader, _ *bitsets) error {
	return r.ColumnPrefix(set, f.Column, f.Prefix)
}

// bitsets hands out cleared sets of ordinals and takes them back. Not safe for
// concurrent use.
type bitsets struct{ free []segment.Bitset }

func (p *bitsets) get(n int) segment.Bitset {
	words := (n + 63) / 64
	for i, s := range p.free {
		if cap(s) >= words {
			last := len(p.free) - 1
			p.free[i] = p.free[last]
			p.free = p.free[:last]
			s = s[:words]
			clear(s)
			return s
		}
	}
	return segment.NewBitset(n)
}

func (p *bitsets) put(s segment.Bitset) {
	if s != nil {
		p.free = append(p.free, s)
	}
}
