package engine

import (
	"encoding/binary"
	"math"
	"sync"

	"sheaf/index/engine/bm25"
	"sheaf/index/engine/segment"
)

// filtered is what a filter lets through, and the statistics of fields over that.
type filtered struct {
	sets []segment.Bitset // by view, without what is deleted; not to be changed

	mu    sync.Mutex
	stats map[fieldOf]bm25.Field
}

// fieldOf is a field of a view, with lengths that count so.
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

// filters remembers what filters let through: of a caller who sees a part of the index
// every request has the same, and a search makes ten and more.
type filters struct {
	mu sync.Mutex
	// now are those that were used lately, before those that were used before them, which
	// go when there are mostFilters of the former.
	now, before map[string]*filtered
}

// mostFilters is how many filters a snapshot remembers, and as many before. Each takes a bit
// a chunk.
const mostFilters = 16

// get is what is remembered of a filter, nil for nothing.
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

// keep remembers it among those that were used lately. The caller holds mu.
func (f *filters) keep(key string, of *filtered) {
	if f.now == nil || len(f.now) >= mostFilters {
		f.now, f.before = map[string]*filtered{}, f.now
	}
	f.now[key] = of
}

// filtered is what a filter, which is not nil, lets through.
func (s *Snapshot) filtered(filter Filter) (*filtered, error) {
	key := filter.appendKey(make([]byte, 0, 256))
	if known := s.filters.get(key); known != nil {
		return known, nil
	}
	f := &filtered{sets: make([]segment.Bitset, len(s.views)), stats: map[fieldOf]bm25.Field{}}
	var pool bitsets
	for i, v := range s.views {
		f.sets[i] = segment.NewBitset(v.reader.Chunks())
		if err := filter.add(f.sets[i], v.reader, &pool); err != nil {
			return nil, err
		}
		if v.deleted != nil {
			f.sets[i].AndNot(v.deleted)
		}
	}
	s.filters.put(key, f)
	return f, nil
}

// The key of a filter is written so that no other is written alike: what it is, then its
// parts. Lists begin with their number, texts with their length.

func (f And) appendKey(b []byte) []byte { return appendParts(append(b, '&'), f) }

func (f Or) appendKey(b []byte) []byte { return appendParts(append(b, '|'), f) }

func (f Not) appendKey(b []byte) []byte { return f.Filter.appendKey(append(b, '!')) }

func (f In) appendKey(b []byte) []byte {
	b = binary.AppendUvarint(appendText(append(b, '='), f.Column), uint64(len(f.Values)))
	for _, v := range f.Values {
		b = appendValue(b, v)
	}
	return b
}

func (f Range) appendKey(b []byte) []byte {
	b = append(appendText(append(b, '<'), f.Column), f.Kind)
	for _, bound := range [...]*segment.Bound{f.Low, f.High} {
		switch {
		case bound == nil:
			b = append(b, 0)
		case bound.Open:
			b = appendValue(append(b, 1), bound.Value)
		default:
			b = appendValue(append(b, 2), bound.Value)
		}
	}
	return b
}

func (f Exists) appendKey(b []byte) []byte { return appendText(append(b, '?'), f.Column) }

func (f HasPrefix) appendKey(b []byte) []byte {
	return appendValue(appendText(append(b, '^'), f.Column), f.Prefix)
}

func appendParts(b []byte, parts []Filter) []byte {
	b = binary.AppendUvarint(b, uint64(len(parts)))
	for _, part := range parts {
		b = part.appendKey(b)
	}
	return b
}

func appendValue(b []byte, v segment.Value) []byte {
	b = append(b, v.Kind)
	if v.IsText {
		return appendText(append(b, 't'), v.Text)
	}
	return binary.BigEndian.AppendUint64(append(b, 'n'), math.Float64bits(v.Number))
}
