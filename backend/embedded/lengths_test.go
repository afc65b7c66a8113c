package embedded_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/embedded"
	"sheaf/backend/memory"
	"sheaf/engine/bm25"
)

// TestLengths: an engine that counts lengths as Lucene answers as the oracle that does,
// from the same index as one that counts them exactly, and explains its scores.
func TestLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	words := func(most int) string {
		var out strings.Builder
		for range rng.IntN(most) {
			fmt.Fprintf(&out, "w%dx ", int(60*rng.Float64()*rng.Float64()))
		}
		return out.String()
	}
	var batch backend.Batch
	for i := range 150 {
		id := sheaf.ID(fmt.Sprintf("t:c%03d", i))
		batch.Chunks = append(batch.Chunks, backend.Chunk{ID: id, Doc: id, Fields: []backend.Field{
			{Name: sheaf.FieldTitle, Text: words(90)}, {Name: sheaf.FieldBody, Text: words(1 + rng.IntN(1500))}}})
	}
	dir := t.TempDir()
	for _, lengths := range []bm25.Lengths{bm25.LengthsExact, bm25.LengthsLucene} {
		store, err := embedded.Open(embedded.Options{Dir: dir, Analyzer: analyzer(t), Lengths: lengths})
		if err != nil {
			t.Fatal(err)
		}
		other, oracle := memory.New(analyzer(t)), memory.New(analyzer(t))
		oracle.KeepLengths(func(n int) int { return int(lengths.Of(uint32(n))) })
		other.KeepLengths(func(n int) int { return int((1 - lengths).Of(uint32(n))) })
		for _, b := range []backend.Backend{oracle, other} {
			if err := b.Write(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
		if lengths == bm25.LengthsExact {
			if err := store.Write(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 30 {
			compareLengths(t, store, oracle, other, backend.Request{Limit: 30, Text: &backend.TextRequest{
				Query:  sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Match{Text: words(8) + "w3x"}, sheaf.Phrase{Text: "w1x w2x"}, sheaf.Prefix{Text: "w1"}}[:1+n%3]},
				Fields: []backend.FieldWeight{{Name: sheaf.FieldTitle, Weight: 2}, {Name: sheaf.FieldBody, Weight: 1}},
				K1:     1.2, B: 0.75, Combine: backend.Combine(n / 3 % 3), TieBreaker: 0.3}})
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// compareLengths: store scores as oracle does, and not as other does.
func compareLengths(t *testing.T, store *embedded.Store, oracle, other backend.Backend, req backend.Request) {
	t.Helper()
	var rankings [3]sheaf.Ranking
	for i, b := range []backend.Backend{store, oracle, other} {
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
	if differs < req.Limit/2 {
		t.Errorf("%+v: only %d scores tell how lengths are counted", req.Text, differs)
	}
	why, err := store.Explain(t.Context(), req, []sheaf.ID{rankings[0][0].ID})
	if err != nil || why[0] == nil || math.Abs(why[0].Value-rankings[0][0].Score) > 1e-12 || math.Abs(why[0].Recombine()-rankings[0][0].Score) > 1e-12 {
		t.Errorf("%+v: scores %v, explained as %+v, %v", req.Text, rankings[0][0].Score, why, err)
	}
}
