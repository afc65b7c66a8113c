package weaviate_test

import (
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
)

// TestUnindexedPassages checks that no new passage counts as unindexed, even in a chunk with very many passages. A
// passage without a vector must count. A killed server leaves such passages.
func TestUnindexedPassages(t *testing.T) {
	o := options(t)
	s := must.Get(weaviate.Open(t.Context(), o))
	defer s.Close()
	passages := make([][]float32, 10_100)
	for i := range passages {
		passages[i] = []float32{1, 0}
	}
	long, short := storetest.Chunk("t:long", "body", "tea"), storetest.Chunk("t:short", "body", "tea")
	long.Vectors = []store.Vectors{{Name: "body", Passages: passages}}
	short.Vectors = []store.Vectors{{Name: "body", Passages: passages[:2]}}
	must.Do(t, s.Write(t.Context(), store.Batch{Chunks: []store.Chunk{long, short}}))
	ids := []sheaf.ID{"t:long", "t:none", "t:short"}
	if n, err := s.Unreached(t.Context(), ids); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	weaviate.WithoutVector(t.Context(), s, "t:short", "body", 1)
	n, err := s.Unreached(t.Context(), ids)
	check.That(t, n == 1 && err == nil, "%d passages are not reached: %v", n, err)
}
