package engine

import (
	"encoding/binary"
	"math"
	"sync"

	"sheaf"
	"sheaf/index/engine/bm25"
	"sheaf/index/engine/segment"
)

// filtered has the chunks that pass a filter, and the field statistics of these chunks.
type filtered struct {
	sets []segment.Bitset // by view, without deleted chunks; must not be changed

	mu    sync.Mutex
	stats map[fieldOf]bm25.Field
}

// fieldOf names a field of a view, as the key of statistics.
type fieldOf struct {
	view, field int
	lengths     bm25.Lengths
}

func (f *filtered) get(of fieldOf) (bm25.Field, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stats, ok := f.stats[of]
	return stats, ok
}

func (f *filtered) put(of fieldOf, stats bm25.Field) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats[of] = stats
}

// filters caches the chunks that pass a filter. A search sends ten or more requests. If a caller may see only a part
// of the index, all its requests have the same filter.
type filters struct {
	mu sync.Mutex
	// The map now holds the filters that were used last. When it has mostFilters filters, it becomes the map before,
	// and the old map before is dropped.
	now, before map[string]*filtered
}

// mostFilters limits the number of filters in each of the maps now and before. A filter takes one bit for each chunk.
const mostFilters = 16

// get returns the cached filter with this key, or nil.
func (f *filters) get(key []byte) *filtered {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.now[string(key)]; known != nil {
		return known
	}
	known := f.before[string(key)]
	if known != nil {
		f.keep(string(key), known)
	}
	return known
}

func (f *filters) put(key []byte, of *filtered) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(string(key), of)
}

// keep adds a filter to the field now. The caller holds mu.
func (f *filters) keep(key string, of *filtered) {
	if f.now == nil || len(f.now) >= mostFilters {
		f.now, f.before = map[string]*filtered{}, f.now
	}
	f.now[key] = of
}

// filtered returns the chunks that pass filter f. f must not be nil.
func (s *Snapshot) filtered(filter sheaf.Filter) (*filtered, error) {
	key := appendKey(make([]byte, 0, 256), filter)
	if known := s.filters.get(key); known != nil {
		return known, nil
	}
	f := &filtered{sets: make([]segment.Bitset, len(s.views)), stats: map[fieldOf]bm25.Field{}}
	var pool bitsets
	for i, v := range s.views {
		f.sets[i] = segment.NewBitset(v.reader.Chunks())
		if err := pool.add(f.sets[i], v.reader, filter); err != nil {
			return nil, err
		}
		if v.deleted != nil {
			f.sets[i].AndNot(v.deleted)
		}
	}
	s.filters.put(key, f)
	return f, nil
}

// add adds the chunks of a segment that match a filter to set.
func (p *bitsets) add(set segment.Bitset, r *segment.Reader, filter sheaf.Filter) error {
	switch f := filter.(type) {
	case sheaf.And:
		return p.addAll(set, r, f)
	case sheaf.Or:
		for _, part := range f {
			if err := p.add(set, r, part); err != nil {
				return err
			}
		}
		return nil
	case sheaf.Not:
		return p.addOthers(set, r, f.Filter)
	case sheaf.In:
		for _, v := range f.Values {
			if v.IsZero() {
				continue
			}
			if err := r.ColumnEquals(set, f.Column, ValueOf(v)); err != nil {
				return err
			}
		}
		return nil
	case sheaf.Range:
		kind, ok := f.Kind()
		if !ok {
			return nil
		}
		return r.ColumnRange(set, f.Column, byte(kind), boundOf(f.Min, f.MinOpen), boundOf(f.Max, f.MaxOpen))
	case sheaf.Exists:
		return r.ColumnExists(set, f.Column)
	case sheaf.HasPrefix:
		return r.ColumnPrefix(set, f.Column, ValueOf(sheaf.TextValue(f.Prefix)))
	}
	return sheaf.Invalidf("a filter of unknown kind %T", filter)
}

// addAll adds the chunks that match every filter.
func (p *bitsets) addAll(set segment.Bitset, r *segment.Reader, filters []sheaf.Filter) error {
	all := p.get(r.Chunks())
	defer p.put(all)
	all.Fill(r.Chunks())
	for _, part := range filters {
		one := p.get(r.Chunks())
		err := p.add(one, r, part)
		all.And(one)
		p.put(one)
		if err != nil {
			return err
		}
	}
	set.Or(all)
	return nil
}

// addOthers adds the chunks that do not match a filter.
func (p *bitsets) addOthers(set segment.Bitset, r *segment.Reader, filter sheaf.Filter) error {
	one := p.get(r.Chunks())
	defer p.put(one)
	if err := p.add(one, r, filter); err != nil {
		return err
	}
	all := p.get(r.Chunks())
	defer p.put(all)
	all.Fill(r.Chunks())
	all.AndNot(one)
	set.Or(all)
	return nil
}

// ValueOf returns a value as segments store it.
func ValueOf(v sheaf.Value) segment.Value {
	return segment.Value{Kind: byte(v.Kind), IsText: v.Kind == sheaf.KindText, Text: v.Text, Number: v.Number}
}

// boundOf returns an end of a range, or nil if v is not a value.
func boundOf(v sheaf.Value, open bool) *segment.Bound {
	if v.IsZero() {
		return nil
	}
	return &segment.Bound{Value: ValueOf(v), Open: open}
}

// bitsets lends cleared sets of ordinals for reuse. Not safe for concurrent use.
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

// appendKey appends the cache key of a filter. Different filters get different keys, because the key has the number of
// elements before a list and the length before a text.
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
