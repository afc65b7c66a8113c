package postgres

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storetest"
)

// TestGatherLooksAtDimensions checks that gather examines only dimensions, which depend on other
// batches, and that a refused batch changes nothing. check examines the rest before, without the
// lock: for example the length of vectors.
func TestGatherLooksAtDimensions(t *testing.T) {
	w := &load{s: &Store{}, next: waiting{dims: map[string]int{"body": 3}}}
	batch := func(id string, vectors ...store.Vectors) *store.Batch {
		c := storetest.Chunk(id, sheaf.FieldBody, "tea")
		c.Vectors = vectors
		return &store.Batch{Chunks: []store.Chunk{c}}
	}
	long := batch("t:a#1", store.Vectors{Name: "body", Passages: [][]float32{{3, 0, 0}}})
	if n, err := w.gather(long, lastOfEqual(long.Chunks)); err != nil || n != 1 {
		t.Errorf("a vector of length 3 is looked at again: %d, %v", n, err)
	}
	if err := w.s.check(long); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("a vector of length 3: %v", err)
	}
	_, err := w.gather(batch("t:b#1", store.Vectors{Name: "title", Passages: [][]float32{{1, 0}}},
		store.Vectors{Name: "body", Passages: [][]float32{{1, 0}}}), nil)
	if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(err.Error(), `"body" has 2 dimensions, the store has 3`) {
		t.Errorf("other dimensions: %v", err)
	}
	if want := map[string]int{"body": 3}; !maps.Equal(w.next.dims, want) {
		t.Errorf("a batch that was refused left the dimensions %v, want %v", w.next.dims, want)
	}
}
