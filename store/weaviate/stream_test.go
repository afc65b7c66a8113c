package weaviate_test

import (
	"fmt"
	"math"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
)

// TestStreamManyPassages checks that Stream returns chunks unchanged when their passages need more
// than one answer of the server. The passages belong to one chunk or to several.
func TestStreamManyPassages(t *testing.T) {
	b := stores().Empty(t)
	defer b.Close()
	var batch store.Batch
	want := map[string]int{}
	for i, n := range []int{3, 20_500, 1, 400, 0} {
		c := storetest.Chunk(fmt.Sprintf("t:%d", i), "body", "tea")
		if n > 0 {
			v := store.Vectors{Name: "body", Passages: make([][]float32, n)}
			for k := range v.Passages {
				v.Passages[k] = []float32{float32(math.Cos(float64(k) / 1e4)), float32(math.Sin(float64(k) / 1e4))}
			}
			c.Vectors = []store.Vectors{v}
		}
		want[string(c.ID)] = n
		batch.Chunks = append(batch.Chunks, c)
	}
	must.Do(t, b.Write(t.Context(), batch))
	err := b.(*weaviate.Store).Stream(t.Context(), "", func(chunks []store.Chunk, _ string) error {
		for _, c := range chunks {
			n := 0
			for _, v := range c.Vectors {
				for k, p := range v.Passages {
					check.That(t, len(p) == 2 && math.Abs(math.Atan2(float64(p[1]), float64(p[0]))-float64(k)/1e4) <= 1e-5,
						"%s: passage %d is %v", c.ID, k, p)
				}
				n += len(v.Passages)
			}
			check.Equal(t, n, want[string(c.ID)], "passages of %s", c.ID)
			delete(want, string(c.ID))
		}
		return nil
	})
	check.That(t, err == nil && len(want) == 0, "%v, not given: %v", err, want)
}

// TestListOnly checks listing of a store that was made with another analyzer, k1 and b.
func TestListOnly(t *testing.T) {
	made := options(t)
	o := made
	o.Analyzer, o.K1, o.B, o.Access = storetest.Analyzer(t, "de"), 0.9, 0.4, store.ListOnly
	storetest.ListOnly(t, stores(), made, o)
}
