package pgvector_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/backendtest"
	"sheaf/backend/pgvector"
)

// twice is the plain path: two requests, and their reciprocal ranks added here.
func twice(t *testing.T, b backend.Backend, f pgvector.Fusion) sheaf.Ranking {
	t.Helper()
	hits := map[sheaf.ID]*sheaf.Hit{}
	for leg, req := range []backend.Request{{Vector: f.Vector}, {Text: f.Text}} {
		req.Filter, req.Within, req.Limit = f.Filter, f.Within, f.Window
		r, err := b.Retrieve(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range r {
			if hits[h.ID] == nil {
				hits[h.ID] = &sheaf.Hit{ID: h.ID, Legs: make([]sheaf.Leg, 2)}
			}
			hits[h.ID].Legs[leg] = sheaf.Leg{Rank: i + 1, Score: h.Score}
			hits[h.ID].Score += f.Weights[leg] / float64(f.K+i+1)
		}
	}
	var out sheaf.Ranking
	for _, h := range hits {
		out = append(out, *h)
	}
	out.Sort()
	return out[:min(len(out), f.Limit)]
}

// TestFuse: one statement answers as two requests and a fusion do.
func TestFuse(t *testing.T) {
	b := stores().Open(t, options(t)).(*pgvector.Store)
	defer b.Close()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	vector := func() []float32 {
		v := make([]float32, 8)
		square := 0.0
		for i := range v {
			v[i] = float32(r.NormFloat64())
			square += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(square))
		}
		return v
	}
	words := strings.Fields("apple pie token refresh running index engine search graph vault note link")
	var chunks []backend.Chunk
	for i := range 300 {
		var text []string
		for range r.IntN(12) {
			text = append(text, words[min(r.IntN(len(words)), r.IntN(len(words)))])
		}
		c := backendtest.Chunk(fmt.Sprintf("t:%03d", i), "title", words[r.IntN(len(words))], "body", strings.Join(text, " "))
		c.Columns = []backend.Column{{Name: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(r.IntN(4)))}}}
		if r.IntN(4) > 0 {
			c.Vectors = []backend.Vectors{{Name: "body", Passages: [][]float32{vector(), vector()}}}
		}
		chunks = append(chunks, c)
	}
	if err := b.Write(t.Context(), backend.Batch{Chunks: chunks}); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		f := pgvector.Fusion{Text: backendtest.Words(sheaf.Match{Text: words[r.IntN(len(words))] + " " + words[r.IntN(len(words))]}).Text,
			Vector: &backend.VectorRequest{Field: "body", Vector: vector()},
			Window: 1 + r.IntN(120), Limit: 1, K: 1 + r.IntN(100), Weights: [2]float64{r.Float64(), 1}}
		f.Limit += r.IntN(f.Window)
		if r.IntN(2) == 0 {
			f.Filter = sheaf.In{Column: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(r.IntN(5)))}}
		}
		if r.IntN(5) == 0 {
			f.Vector.Field = "none"
		}
		got, err := b.Fuse(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		want := twice(t, b, f)
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d hits, the plain path has %d", seed, len(got), len(want))
		}
		for i := range got {
			if got[i].ID != want[i].ID || math.Abs(got[i].Score-want[i].Score) > 1e-12 || !slices.Equal(got[i].Legs, want[i].Legs) {
				t.Fatalf("seed %d: place %d of %+v is %+v, the plain path has %+v", seed, i+1, f, got[i], want[i])
			}
		}
	}
	bad := pgvector.Fusion{Text: backendtest.Words(sheaf.Match{Text: "x"}).Text, Vector: &backend.VectorRequest{Field: "body", Vector: vector()}, Window: 10, Limit: 5, K: 60}
	for what, change := range map[string]func(*pgvector.Fusion){
		"k": func(f *pgvector.Fusion) { f.K = 0 }, "limit": func(f *pgvector.Fusion) { f.Limit = 21 }, "window": func(f *pgvector.Fusion) { f.Window = 0 },
		"weight": func(f *pgvector.Fusion) { f.Weights[0] = math.NaN() }, "no words": func(f *pgvector.Fusion) { f.Text = nil },
		"dimensions": func(f *pgvector.Fusion) { f.Vector = &backend.VectorRequest{Field: "body", Vector: []float32{1}} },
	} {
		f := bad
		change(&f)
		if _, err := b.Fuse(t.Context(), f); !errors.Is(err, sheaf.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
