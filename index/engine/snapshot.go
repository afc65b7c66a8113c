package engine

import (
	"errors"
	"slices"
	"sync/atomic"

	"sheaf/index/engine/bm25"
	"sheaf/index/engine/postings"
	"sheaf/index/engine/segment"
	"sheaf/internal/lru"
)

// handle is an open segment that several snapshots share. It counts the references to it.
type handle struct {
	name   string
	reader *segment.Reader
	terms  lru.Cache[string, segment.Term]
	refs   atomic.Int32
	// lengths are the lengths of the virtual field that was used last.
	lengths atomic.Pointer[virtualLengths]
}

// newHandle returns the handle of an open segment, with one reference.
func newHandle(name string, reader *segment.Reader) *handle {
	h := &handle{name: name, reader: reader}
	h.terms.Limit(termsKept)
	h.refs.Store(1)
	return h
}

func (h *handle) release() error {
	if h.refs.Add(-1) > 0 {
		return nil
	}
	return h.reader.Close()
}

// view is a segment without the chunks that were deleted before the snapshot. A view never changes.
type view struct {
	*handle
	deleted segment.Bitset                 // nil when none is deleted
	live    int                            // number of remaining chunks
	alive   atomic.Pointer[segment.Bitset] // cache of the method remaining
	fields  lru.Cache[fieldOf, bm25.Field] // cache of the method field
	// counts caches how many of the remaining chunks have a term, for recent terms. Without this cache, each search
	// would compare the postings with the deleted chunks.
	counts lru.Cache[termIn, int]
}

// termIn is the key of a cached count: a term in some fields of a segment. The place where one of the term's lists
// starts identifies the term. Terms with single postings have no place and need no cache.
type termIn struct {
	place  uint64
	fields uint64 // a bit for each field
}

const countsKept = 1 << 10

// newView returns a view of h, which takes over one reference to h. After an error, the caller keeps this reference.
// runs is the encoded set of deleted chunks: see segment.Bitset.AppendRuns.
func newView(h *handle, runs []byte) (*view, error) {
	r := h.reader
	v := &view{handle: h, live: r.Chunks()}
	v.fields.Limit(statsKept)
	v.counts.Limit(countsKept)
	if len(runs) == 0 {
		return v, nil
	}
	v.deleted = segment.NewBitset(r.Chunks())
	if !v.deleted.ReadRuns(runs, r.Chunks()) {
		return nil, corruptf("%s: the list of deleted chunks of %s does not fit its %d chunks", manifestName, h.name,
			r.Chunks())
	}
	v.live -= v.deleted.Count()
	return v, nil
}

// remaining returns the remaining chunks, or nil if no chunk is deleted. The caller must not change the set.
func (v *view) remaining() segment.Bitset {
	if v.deleted == nil {
		return nil
	}
	if known := v.alive.Load(); known != nil {
		return *known
	}
	set := segment.NewBitset(v.reader.Chunks())
	set.Fill(v.reader.Chunks())
	set.AndNot(v.deleted)
	v.alive.Store(&set)
	return set
}

// field returns the statistics of a field over the remaining chunks. With rounded lengths, the first call reads all
// lengths of the field. With exact lengths, it reads only the lengths of deleted chunks.
func (v *view) field(f int, as bm25.Lengths) (bm25.Field, error) {
	stats := v.reader.Fields()[f].Field
	if v.deleted == nil && as == bm25.LengthsExact {
		return stats, nil
	}
	of := fieldOf{field: f, lengths: as}
	if known, ok := v.fields.Get(of); ok {
		return known, nil
	}
	lengths, err := v.reader.Lengths(f)
	if err != nil {
		return stats, err
	}
	if as == bm25.LengthsExact {
		for i := v.deleted.Next(0); i >= 0; i = v.deleted.Next(i + 1) {
			if n := lengths.Of(uint32(i)); n > 0 {
				stats.Remove(bm25.Field{Chunks: 1, Tokens: int64(n)})
			}
		}
	} else {
		stats = bm25.Field{}
		for i, n := range lengths.All() {
			if v.deleted == nil || !v.deleted.Has(i) {
				stats.Add(bm25.Field{Chunks: 1, Tokens: as.Sum(n)})
			}
		}
	}
	v.fields.Put(of, stats, 1)
	return stats, nil
}

// liveDF returns how many remaining chunks of the view have a term in a field. If liveDF must count, it uses the cursor
// c.
func (v *view) liveDF(t *segment.Term, field int, c *postings.Cursor) (int, error) {
	df := t.DF(field)
	if df == 0 || v.deleted == nil {
		return df, nil
	}
	place, counted := t.Place(1 << field)
	of := termIn{place, 1 << field}
	if counted {
		if n, ok := v.counts.Get(of); ok {
			return n, nil
		}
	}
	list, err := v.reader.List(t, field, false)
	if err != nil {
		return 0, err
	}
	c.Reset(list, uint32(v.reader.Chunks()))
	gone := 0
	for i := v.deleted.Next(0); i >= 0; {
		at := c.Seek(uint32(i))
		if at == postings.End {
			break
		}
		if v.deleted.Has(at) {
			gone++
			at++
		}
		i = v.deleted.Next(int(at))
	}
	if c.Err() != nil {
		return 0, v.reader.Corrupt(c.Err())
	}
	if counted {
		v.counts.Put(of, df-gone, 1)
	}
	return df - gone, nil
}

// Snapshot is the state of the index at one moment. It does not change. Several goroutines can use it until Release.
type Snapshot struct {
	generation uint64
	views      []*view
	refs       atomic.Int32
	index      *Index
	norms      lru.Cache[normsOf, *norms]
	places     *places
	filters    lru.Cache[string, *filterResult]
	// largestFirst has the indices of the views, sorted by size from large to small. Large segments raise the threshold
	// first, which saves work in the others.
	largestFirst []int
}

// newSnapshot returns a snapshot without segments, with one reference.
func newSnapshot(ix *Index, generation uint64) *Snapshot {
	s := &Snapshot{generation: generation, index: ix, places: newPlaces()}
	s.norms.Limit(normsKept)
	s.filters.Limit(filtersKept)
	s.refs.Store(1)
	return s
}

// order fills largestFirst with the sorted indices of the views.
func (s *Snapshot) order() {
	for i := range s.views {
		s.largestFirst = append(s.largestFirst, i)
	}
	slices.SortStableFunc(s.largestFirst, func(i, j int) int { return s.views[j].live - s.views[i].live })
}

// Acquire adds a reference; the caller must call Release later. It returns false if all references were released
// before.
func (s *Snapshot) Acquire() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release releases one reference. The last call releases the segments. Every holder of a reference must call Release
// once.
func (s *Snapshot) Release() error {
	if s.refs.Add(-1) > 0 {
		return nil
	}
	var errs []error
	for _, v := range s.views {
		errs = append(errs, v.release())
	}
	return errors.Join(errs...)
}

// Generation returns the number of the snapshot. The number grows with every change of the index.
func (s *Snapshot) Generation() uint64 { return s.generation }

// Chunks returns the number of chunks.
func (s *Snapshot) Chunks() int {
	n := 0
	for _, v := range s.views {
		n += v.live
	}
	return n
}
