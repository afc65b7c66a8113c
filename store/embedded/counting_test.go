package embedded_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"sheaf"
	"sheaf/index/engine/bm25"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/memory"
)

// TestCounting checks that one index can count lengths like Lucene, or chunks like Weaviate: it
// scores like an oracle that counts the same way, and explains its scores.
func TestCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	words := func(most int) string {
		var out strings.Builder
		for range rng.IntN(most) {
			fmt.Fprintf(&out, "w%dx ", int(60*rng.Float64()*rng.Float64()))
		}
		return out.String()
	}
	var batch store.Batch
	for i := range 150 {
		id := sheaf.ID(fmt.Sprintf("t:c%03d", i))
		c := store.Chunk{ID: id, Doc: id, Fields: []store.Field{{Name: sheaf.FieldBody, Text: words(1 + rng.IntN(1500))}}}
		if i%3 > 0 {
			c.Fields = append(c.Fields, store.Field{Name: sheaf.FieldTitle, Text: words(90)})
		}
		batch.Chunks = append(batch.Chunks, c)
	}
	var requests []store.Request
	for n := range 30 {
		parts := []sheaf.TextQuery{sheaf.Match{Text: words(8) + "w3x"}, sheaf.Phrase{Text: "w1x w2x"},
			sheaf.Prefix{Text: "w1"}}
		requests = append(requests, store.Request{Limit: 30, Text: &store.TextRequest{
			Query: sheaf.Bool{Should: parts[:1+n%3]}, K1: 1.2, B: 0.75, Combine: store.Combine(n / 3 % 3), TieBreaker: 0.3,
			Fields: []store.FieldWeight{{Name: sheaf.FieldTitle, Weight: 2}, {Name: sheaf.FieldBody, Weight: 1}}}})
	}
	dir := t.TempDir()
	filled := open(t, embedded.Options{Dir: dir})
	usual := memory.New(analyzer(t))
	lucene := memory.New(analyzer(t))
	lucene.KeepLengths(func(n int) int { return int(bm25.LengthsLucene.Of(uint32(n))) })
	weaviate := memory.New(analyzer(t))
	weaviate.CountAllChunks()
	for _, b := range []store.Backend{filled, usual, lucene, weaviate} {
		if err := b.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name          string
		options       embedded.Options
		oracle, other store.Backend
	}{
		{"as usual", embedded.Options{}, usual, lucene},
		{"as Lucene", embedded.Options{Lengths: bm25.LengthsLucene}, lucene, usual},
		{"as Weaviate", embedded.Options{AllChunks: true}, weaviate, usual},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Dir = dir
			st := open(t, c.options)
			for _, req := range requests {
				compareCounting(t, st, c.oracle, c.other, req)
			}
		})
	}
}

// compareCounting checks that st scores like oracle and unlike other.
func compareCounting(t *testing.T, st *embedded.Store, oracle, other store.Backend, req store.Request) {
	t.Helper()
	var rankings [3]sheaf.Ranking
	for i, b := range []store.Backend{st, oracle, other} {
		var err error
		if rankings[i], err = b.Retrieve(t.Context(), req); err != nil || len(rankings[i]) != req.Limit {
			t.Fatalf("%+v: %d found, %v", req.Text, len(rankings[i]), err)
		}
	}
	differs := 0
	for i, h := range rankings[0] {
		if math.Abs(h.Score-rankings[1][i].Score) > 1e-12 {
			t.Fatalf("%+v: place %d scores %v, the oracle's %v", req.Text, i+1, h.Score, rankings[1][i].Score)
		}
		if math.Abs(h.Score-rankings[2][i].Score) > 1e-6 {
			differs++
		}
	}
	if req.Text.Combine != store.CombineBM25F && differs == 0 {
		t.Errorf("%+v: no score tells how is counted", req.Text)
	}
	why, err := st.Explain(t.Context(), req, []sheaf.ID{rankings[0][0].ID})
	if err != nil || why[0] == nil || math.Abs(why[0].Value-rankings[0][0].Score) > 1e-12 ||
		math.Abs(why[0].Recombine()-rankings[0][0].Score) > 1e-12 {
		t.Errorf("%+v: scores %v, explained as %+v, %v", req.Text, rankings[0][0].Score, why, err)
	}
}
