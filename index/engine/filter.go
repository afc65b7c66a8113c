package engine

import (
	"encoding/binary"
	"math"

	"sheaf"
	"sheaf/index/engine/bm25"
	"sheaf/index/engine/segment"
	"sheaf/internal/lru"
)

// filterResult has the chunks that pass a filter, and the field statistics of these chunks.
type filterResult struct {
	sets  []segment.Bitset // by view, without deleted chunks; must not be changed
	stats lru.Cache[fieldOf, bm25.Field]
}

// fieldOf is the key of cached statistics: a field of a view.
type fieldOf struct {
	view, field int
	lengths     bm25.Lengths
}

// statsKept is the largest number of statistics of fields in one cache.
const statsKept = 1 << 10

// filtersKept is the largest number of filters whose chunks a snapshot caches. A cached filter takes one bit for each
// chunk. The cache helps callers who may see only a part of the index: all their requests have the same filter.
const filtersKept = 32

// filterChunks returns the chunks that pass a filter. The caller must not pass nil.
func (s *Snapshot) filterChunks(filter sheaf.Filter) (*filterResult, error) {
	key := string(appendKey(make([]byte, 0, 256), filter))
	if known, ok := s.filters.Get(key); ok {
		return known, nil
	}
	f := &filterResult{}
	f.stats.Limit(statsKept)
	for _, v := range s.views {
		set, err := passing(v.reader, filter)
		if err != nil {
			return nil, err
		}
		if v.deleted != nil {
			set.AndNot(v.deleted)
		}
		f.sets = append(f.sets, set)
	}
	s.filters.Put(key, f, 1)
	return f, nil
}

// passing returns the chunks of a segment that pass a filter, in a new set.
func passing(r *segment.Reader, filter sheaf.Filter) (segment.Bitset, error) {
	set := segment.NewBitset(r.Chunks())
	return set, addPassing(set, r, filter)
}

// addPassing adds to a set the chunks of a segment that pass a filter.
func addPassing(set segment.Bitset, r *segment.Reader, filter sheaf.Filter) error {
	switch f := filter.(type) {
	case sheaf.And:
		all := segment.NewBitset(r.Chunks())
		all.Fill(r.Chunks())
		for _, part := range f {
			one, err := passing(r, part)
			if err != nil {
				return err
			}
			all.And(one)
		}
		set.Or(all)
	case sheaf.Or:
		for _, part := range f {
			if err := addPassing(set, r, part); err != nil {
				return err
			}
		}
	case sheaf.Not:
		one, err := passing(r, f.Filter)
		if err != nil {
			return err
		}
		all := segment.NewBitset(r.Chunks())
		all.Fill(r.Chunks())
		all.AndNot(one)
		set.Or(all)
	case sheaf.In:
		for _, v := range f.Values {
			if v.IsZero() {
				continue
			}
			if err := r.ColumnEquals(set, f.Column, valueOf(v)); err != nil {
				return err
			}
		}
	case sheaf.Range:
		if kind, ok := f.Kind(); ok {
			return r.ColumnRange(set, f.Column, byte(kind), boundOf(f.Min, f.MinOpen), boundOf(f.Max, f.MaxOpen))
		}
	case sheaf.Exists:
		return r.ColumnExists(set, f.Column)
	case sheaf.HasPrefix:
		return r.ColumnPrefix(set, f.Column, valueOf(sheaf.TextValue(f.Prefix)))
	default:
		return sheaf.Invalidf("a filter of unknown kind %T", filter)
	}
	return nil
}

// valueOf converts a value of a request to a value of a segment.
func valueOf(v sheaf.Value) segment.Value {
	return segment.Value{Kind: byte(v.Kind), IsText: v.Kind == sheaf.KindText, Text: v.Text, Number: v.Number}
}

// boundOf returns one end of a range, or nil if v is empty. open excludes the value v itself.
func boundOf(v sheaf.Value, open bool) *segment.Bound {
	if v.IsZero() {
		return nil
	}
	return &segment.Bound{Value: valueOf(v), Open: open}
}

// appendKey appends the cache key of a filter. Different filters get different keys, because each list and text begins
// with its size.
func appendKey(b []byte, filter sheaf.Filter) []byte {
	switch f := filter.(type) {
	case sheaf.And:
		return appendKeys(append(b, '&'), f)
	case sheaf.Or:
		return appendKeys(append(b, '|'), f)
	case sheaf.Not:
		return appendKey(append(b, '!'), f.Filter)
	case sheaf.In:
		b = binary.AppendUvarint(appendText(append(b, '='), f.Column), uint64(len(f.Values)))
		for _, v := range f.Values {
			b = appendValue(b, v)
		}
		return b
	case sheaf.Range:
		b = appendBound(appendText(append(b, '<'), f.Column), f.Min, f.MinOpen)
		return appendBound(b, f.Max, f.MaxOpen)
	case sheaf.Exists:
		return appendText(append(b, '?'), f.Column)
	case sheaf.HasPrefix:
		return appendText(appendText(append(b, '^'), f.Column), f.Prefix)
	}
	return b
}

func appendKeys(b []byte, parts []sheaf.Filter) []byte {
	b = binary.AppendUvarint(b, uint64(len(parts)))
	for _, part := range parts {
		b = appendKey(b, part)
	}
	return b
}

func appendBound(b []byte, v sheaf.Value, open bool) []byte {
	if open {
		b = append(b, '(')
	}
	return appendValue(b, v)
}

func appendValue(b []byte, v sheaf.Value) []byte {
	b = append(b, byte(v.Kind))
	if v.Kind == sheaf.KindText {
		return appendText(b, v.Text)
	}
	return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Number))
}
