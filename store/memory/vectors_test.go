package memory_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/internal/worked"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/store/storetest"
)

// TestVectorsSonarBM25 checks Sonar's worked numbers, which are outside the repository. Sonar's
// BM25 has the factor k1 + 1, which keeps the order. A repeated query word counts twice.
func TestVectorsSonarBM25(t *testing.T) {
	type in struct {
		Documents map[string]string
		Query     string
		K1, B     float64
	}
	type scored struct {
		ID    sheaf.ID
		Score float64
	}
	a := storetest.Analyzer(t, "")
	for _, c := range worked.Cases[in, []scored](t, "sonar_bm25_scores.json") {
		t.Run(c.Name, func(t *testing.T) {
			st := memory.New(a)
			var batch store.Batch
			for id, text := range c.Input.Documents {
				batch.Chunks = append(batch.Chunks, store.Chunk{ID: sheaf.ID("t:" + id), Doc: sheaf.ID("t:" + id),
					Fields: []store.Field{{Name: sheaf.FieldBody, Text: text}}})
			}
			slices.SortFunc(batch.Chunks, func(a, b store.Chunk) int { return len(a.ID) - len(b.ID) })
			must.Do(t, st.Write(context.Background(), batch))
			got := must.Get(st.Retrieve(context.Background(),
				store.Request{Limit: 10, Text: &store.TextRequest{Query: sheaf.Match{Text: c.Input.Query},
					Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}, K1: c.Input.K1, B: c.Input.B}}))
			must.Equal(t, len(got), len(c.Expected), "number of hits, %v", c.Expected)
			for i, want := range c.Expected {
				if got[i].ID != "t:"+want.ID || math.Abs(got[i].Score*(c.Input.K1+1)-want.Score) > c.Tolerance {
					t.Errorf("rank %d: %s %v, want %s %v", i+1, got[i].ID, got[i].Score*(c.Input.K1+1), want.ID, want.Score)
				}
			}
		})
	}
}
