package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storetest"
)

// TestGatherLooksAtDimensions: while a batch keeps others from adding, only what depends
// on what they added is looked at, and a batch that is refused leaves nothing behind.
// The rest was looked at before, as Add is told of vectors that are no unit vectors.
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

// TestColumnsOfEveryPart: columns and vectors are stored of every chunk, wherever the
// parts that texts come in end beside the pieces that columns go in.
func TestColumnsOfEveryPart(t *testing.T) {
	s := fresh(t, Options{Analyzer: storetest.Analyzer(t, "en")})
	ctx := t.Context()
	var chunks []store.Chunk
	for i := range 3 * maxAhead {
		c := storetest.Chunk(fmt.Sprintf("t:%04d#1", i), sheaf.FieldBody, "tea")
		c.Columns = []store.Column{{Name: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(i))}}}
		c.Vectors = []store.Vectors{{Name: store.VectorBody, Passages: [][]float32{{1, 0}}}}
		chunks = append(chunks, c)
	}
	for _, ends := range [][]int{{maxAhead - 1, maxAhead + 1}, {maxAhead}, {10, maxAhead + 200},
		{maxAhead - 1, 2*maxAhead + 5}, {3 * maxAhead}} {
		all := lastOfEqual(chunks[:ends[len(ends)-1]])
		ready := make(chan *part, len(ends))
		for from, to := 0, 0; len(ends) > 0; from, ends = to, ends[1:] {
			to = ends[0]
			p := &part{}
			p.add(s.analyze(all[from:to]))
			p.sort()
			ready <- p
		}
		bulk, err := s.Bulk(ctx)
		if err != nil {
			t.Fatal(err)
		}
		w := bulk.(*load)
		var counts [2]int
		err = w.change(ctx, func(ctx context.Context) error {
			if err := w.remove(nil, all); err != nil {
				return err
			}
			if err := w.sendParts(ctx, all, ready); err != nil {
				return err
			}
			return w.tx.QueryRow(ctx, "SELECT (SELECT count(DISTINCT chunk) FROM property), (SELECT count(*) FROM "+
				w.vector[store.VectorBody].table()+")").Scan(&counts[0], &counts[1])
		})
		if err != nil || counts != [2]int{len(all), len(all)} {
			t.Errorf("%d chunks: %d have columns, %d vectors, %v", len(all), counts[0], counts[1], err)
		}
		if err := bulk.Close(); err != nil { // which takes all of it back
			t.Fatal(err)
		}
	}
}
