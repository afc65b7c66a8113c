package engine

import (
	"slices"

	"sheaf/index/engine/bm25"
	"sheaf/index/engine/segment"
)

// virtualLengths holds the lengths of a virtual field (BM25F) in one segment. The length of a chunk is the weighted sum
// of its lengths in some fields, and takes four bytes. A segment keeps only the lengths that were computed last,
// because all requests of a profile use the same fields.
type virtualLengths struct {
	fields  []int // in the segment; -1 for a field that it lacks
	weights []float64
	as      bm25.Lengths
	sums    []float32 // by ordinal
}

// virtualLengths returns the virtual lengths of the segment for some fields. The caller must not change them.
func (h *handle) virtualLengths(fields []int, weights []float64, as bm25.Lengths) (*virtualLengths, error) {
	known := h.lengths.Load()
	if known != nil && known.as == as && slices.Equal(known.fields, fields) && slices.Equal(known.weights, weights) {
		return known, nil
	}
	made := &virtualLengths{slices.Clone(fields), slices.Clone(weights), as, make([]float32, h.reader.Chunks())}
	for i, field := range fields {
		if field < 0 {
			continue
		}
		lengths, err := h.reader.Lengths(field)
		if err != nil {
			return nil, err
		}
		made.add(&lengths, float32(weights[i]))
	}
	h.lengths.Store(made)
	return made, nil
}

// add adds the lengths of one field, times weight, to the virtual lengths.
func (l *virtualLengths) add(lengths *segment.Lengths, weight float32) {
	for ordinal, n := range lengths.All() {
		l.sums[ordinal] += weight * float32(l.as.Of(n))
	}
}
