package vector

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	// OwnerBytes is the number of bytes that store an owner (the ordinal of a row's chunk).
	OwnerBytes = 3
	// ScaleBytes is the number of bytes that store a scale.
	ScaleBytes = 4
	// FirstEvery is the number of ordinals that share one entry of Firsts.
	FirstEvery = 64
	// FirstBytes is the number of bytes that store a first row.
	FirstBytes = 4
)

// Set has the vectors of one field. Each vector is a row: a passage of a chunk, which is the owner of the row. A Set
// does not change and is safe for concurrent use. Its slices may be in a mapped file.
type Set struct {
	Encoder *Encoder
	Count   int    // rows
	Chunks  int    // number of chunks; ordinals are below it
	Owned   int    // number of chunks with rows
	Codes   []byte // CodeBytes bytes; PutCode determines the place of a row's code
	Rows    []byte // Count x RowBytes
	Scales  []byte // Count float32
	// Owners has the ordinal of each row's chunk, OwnerBytes each. The ordinals never fall.
	Owners []byte
	// Firsts has FirstBytes for each multiple of FirstEvery: the first row of this ordinal or of a later one.
	Firsts []byte
	// Depth says how many survivors a search needs; a search allows a multiple of this number. With the zero Depth, a
	// search compares every row.
	Depth Depth
	// Verify, if not nil, checks before reading that rows have not changed since they were written. The set passes rising
	// row numbers. If Verify is nil, the set trusts the rows.
	Verify func(rows []uint32) error
}

// single reports whether every chunk has exactly one row, so that row i belongs to ordinal i.
func (s *Set) single() bool { return s.Count == s.Chunks && s.Owned == s.Chunks }

// Owner returns the ordinal of the chunk that a row belongs to.
func (s *Set) Owner(row int) uint32 {
	b := s.Owners[OwnerBytes*row:][:OwnerBytes]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
}

func (s *Set) scale(row int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(s.Scales[ScaleBytes*row:])))
}

// rows returns the range of rows of a chunk: first is in the range, end is not. Without rows, first equals end. from is
// any row that is not after the range; it shortens the search.
func (s *Set) rows(ordinal uint32, from int) (first, end int) {
	if s.single() {
		return int(ordinal), int(ordinal) + 1
	}
	group := int(ordinal) / FirstEvery
	low, high := max(from, s.first(group)), s.first(group+1)
	for low < high {
		if middle := int(uint(low+high) / 2); s.Owner(middle) < ordinal {
			low = middle + 1
		} else {
			high = middle
		}
	}
	for end = low; end < s.Count && s.Owner(end) == ordinal; end++ {
	}
	return low, end
}

// rowsAround returns the range of rows of the chunk that has row: first is in the range, end is not.
func (s *Set) rowsAround(row int) (first, end int) {
	first, end = row, row+1
	if s.single() {
		return first, end
	}
	owner := s.Owner(row)
	for ; first > 0 && s.Owner(first-1) == owner; first-- {
	}
	for ; end < s.Count && s.Owner(end) == owner; end++ {
	}
	return first, end
}

func (s *Set) first(group int) int {
	if FirstBytes*group >= len(s.Firsts) {
		return s.Count
	}
	return min(int(binary.LittleEndian.Uint32(s.Firsts[FirstBytes*group:])), s.Count)
}

// Options say how a search works.
type Options struct {
	// Exact compares every allowed row.
	Exact bool
	// Survivors is how many rows survive the first step of a search. With 0, the set's Depth and the estimates decide.
	Survivors int
	// Threshold is the lowest score of a wanted chunk, if Bounded is set. A threshold saves work.
	Threshold float64
	Bounded   bool
}

// Neighbor is a chunk that a search found, with the similarity of its best passage.
type Neighbor struct {
	Ordinal uint32
	Passage int     // index of its best passage; the first of equally good passages
	Score   float64 // similarity of that passage: the dot product
}

// Search appends to dst the k allowed chunks whose best passage is most similar to v, best first. Chunks with equal
// scores are in order of ordinal. The parameter allowed has a bit for each ordinal; if it is nil, all chunks are
// allowed. v has the encoder's number of dimensions.
//
// After these chunks, Search appends every other compared chunk with the same score as the k-th. So the caller can
// order equal scores of several sets by identifier. An error comes from Verify or from ctx.
func (s *Set) Search(ctx context.Context, dst []Neighbor, v []float32, allowed []uint64, k int, o Options) ([]Neighbor,
	error) {
	if s.Count == 0 || k < 1 {
		return dst, ctx.Err()
	}
	w := workers.Get().(*worker)
	defer workers.Put(w)
	s.Encoder.prepare(&w.query, v)
	w.query.reach.deviations = deviations(k)
	left := s.countAllowed(allowed)
	if left == 0 {
		return dst, ctx.Err()
	}
	// A chunk whose compared rows are below the threshold is dropped. A row above the threshold would have survived too.
	w.nearest.floor, w.nearest.floored = o.Threshold, o.Bounded && !math.IsInf(o.Threshold, -1)
	// If a chunk has many passages, too few chunks may survive. Then more rows must survive.
	for expected, depth := s.survivors(k, o); depth > 0 && left > 2*expected+s.Count/sparseShare; expected,
		depth = 4*expected, 4*depth {
		w.nearest.reset(s, dst, k)
		all, err := s.compareSurvivors(ctx, w, allowed, depth, k, o)
		if err != nil {
			return dst, err
		}
		if list := w.nearest.finish(); len(list)-len(dst) >= k || all || w.nearest.floored {
			return list, nil
		}
	}
	w.nearest.reset(s, dst, k)
	if err := s.compareAllowed(ctx, w, allowed); err != nil {
		return dst, err
	}
	return w.nearest.finish(), nil
}

// sparseShare decides whether a search with a filter omits the first step and compares all rows that pass. Reading a
// row costs about as much as reading sparseShare codes. A survivor costs as much as two rows, because it must be chosen
// first and may be anywhere.
const sparseShare = 40

// exactRows is the largest number of rows for which a search compares all rows by default. This takes less than 0.1 ms.
const exactRows = 4 << 10

// depthMargin times the expected number of rows is the largest number of rows that may survive the first step. The
// expected number was measured with vectors of passages, but short questions need more rows.
const depthMargin = 4

// survivors returns how many rows survive the first step of a search: the expected number, and the largest allowed
// number. If a search must compare every row, both are 0.
func (s *Set) survivors(k int, o Options) (expected, most int) {
	switch {
	case o.Exact:
		return 0, 0
	case o.Survivors > 0:
		expected = max(o.Survivors, k)
		most = expected
	case s.Count <= exactRows || s.Depth == Depth{}:
		return 0, 0
	default:
		expected = s.Depth.At(k)
		most = depthMargin * expected
	}
	if expected >= s.Count {
		return 0, 0
	}
	return expected, most
}

// countAllowed returns roughly how many rows belong to allowed chunks.
func (s *Set) countAllowed(allowed []uint64) int {
	if allowed == nil {
		return s.Count
	}
	chunks := 0
	for _, word := range allowed {
		chunks += bits.OnesCount64(word)
	}
	if s.single() || chunks == 0 {
		return chunks
	}
	return int(int64(chunks)*int64(s.Count)/int64(s.Owned)) + 1
}

// At decodes row number row into dst. The length of dst is the number of dimensions.
func (s *Set) At(dst []float32, row int) error {
	if err := s.verify(uint32(row)); err != nil {
		return err
	}
	size := s.Encoder.RowBytes()
	code := Code(nil, s.Codes, row, s.Encoder.Words())
	s.Encoder.Decode(dst, s.Rows[row*size:(row+1)*size], code, float32(s.scale(row)))
	return nil
}
