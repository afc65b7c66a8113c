package engine

import (
	"strings"
	"sync"

	"sheaf/index/engine/segment"
)

const (
	// termsKept is the largest number of terms that a segment caches. An entry takes 200 bytes with two fields, and 1 kB
	// with MaxFields fields.
	termsKept = 1 << 10
	termBytes = 64
)

// walks holds unused walks through dictionaries, for reuse. A walk finds terms that are not cached.
var walks = sync.Pool{New: func() any { return new(segment.Terms) }}

// term finds a term of the segment. If the segment lacks the term, it returns a term without fields. The caller must
// not change the result. The segment caches recent terms, because finding a term is slow and searches repeat terms.
func (h *handle) term(key string) (segment.Term, error) {
	if term, ok := h.terms.Get(key); ok {
		return term, nil
	}
	walk := walks.Get().(*segment.Terms)
	defer walks.Put(walk)
	walk.Reset(h.reader)
	var term segment.Term
	if walk.Find([]byte(key)) {
		term = walk.Term().Clone()
	} else if err := walk.Err(); err != nil {
		return term, err
	}
	if len(key) <= termBytes {
		h.terms.Put(strings.Clone(key), term, 1) // a key may be a part of a long text
	}
	return term, nil
}
