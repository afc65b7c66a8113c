package storetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf"
	"sheaf/store"
)

// vectorTolerance is the largest difference of similarities between a store and the oracle: a store
// may keep vectors with less precision.
const vectorTolerance = 0.01

// VectorHistory makes the same random changes to the vectors of two stores and compares their
// answers after each, like [RandomHistory]. It expects as many chunks as the oracle finds, in the
// order of a ranking. Each has the oracle's similarity and best passage, within the store's
// precision. The vectors have 8 dimensions. A failure names the seed.
func VectorHistory(t *testing.T, seed uint64, steps int, a, oracle store.Backend,
	reopen func(store.Backend) store.Backend) {
	t.Helper()
	h := &history{r: rand.New(rand.NewPCG(seed, 12))}
	passages := map[sheaf.ID][]store.Vectors{}
	ctx := context.Background()
	for step := range steps {
		where := fmt.Sprintf("seed %d, step %d", seed, step)
		batch := h.batch()
		for i := range batch.Chunks {
			batch.Chunks[i].Vectors = h.vectors()
			passages[batch.Chunks[i].ID] = batch.Chunks[i].Vectors
		}
		for _, b := range []store.Backend{a, oracle} {
			if err := b.Write(ctx, batch); err != nil {
				t.Fatalf("%s: write: %v", where, err)
			}
		}
		if reopen != nil && h.r.IntN(6) == 0 {
			a = reopen(a)
		}
		for range 6 {
			req := h.request()
			words := req.Text
			req.Text, req.Vector = nil, &store.VectorRequest{Field: []string{"body", "body", "title", "none"}[h.r.IntN(4)],
				Vector: h.vector(), Candidates: h.r.IntN(30)}
			if store.Matches(a) && h.r.IntN(2) == 0 {
				req.Vector.Matching = words
			}
			checkVectors(t, where, req, a, oracle, passages)
		}
	}
}

// vector returns one of a few directions, perhaps slightly moved.
func (h *history) vector() []float32 {
	v := make([]float32, 8)
	v[h.r.IntN(8)], v[h.r.IntN(8)] = 1, 1
	if h.r.IntN(3) > 0 {
		for i := range v {
			v[i] += float32(h.r.NormFloat64()) * 0.2
		}
	}
	return unit(v...)
}

func (h *history) vectors() []store.Vectors {
	var out []store.Vectors
	for _, name := range []string{"body", "title"} {
		v := store.Vectors{Name: name}
		for range h.r.IntN(4) {
			v.Passages = append(v.Passages, h.vector())
		}
		if len(v.Passages) > 0 {
			out = append(out, v)
		}
	}
	return out
}

func checkVectors(t *testing.T, where string, req store.Request, a, oracle store.Backend,
	passages map[sheaf.ID][]store.Vectors) {
	t.Helper()
	ctx := context.Background()
	got, err := a.Retrieve(ctx, req)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	all := req
	all.Limit = store.MaxLimit
	want, err := oracle.Retrieve(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := a.(store.Counter); ok {
		if n, err := c.Count(ctx, req); n != len(want) || err != nil {
			t.Fatalf("%s: %+v: counts %d, the oracle finds %d, %v", where, req.Filter, n, len(want), err)
		}
	}
	if len(got) != min(len(want), req.Limit) || !slices.IsSortedFunc(got, sheaf.Compare) {
		t.Fatalf("%s: %+v: found, perhaps out of order:\n%v\nthe oracle finds\n%v", where, req.Filter, got, want)
	}
	near := func(x, y float64) bool { return math.Abs(x-y) <= vectorTolerance }
	scores := map[sheaf.ID]float64{}
	for _, w := range want {
		scores[w.ID] = w.Score
	}
	for i, h := range got {
		score, ok := scores[h.ID]
		if delete(scores, h.ID); !ok || !near(h.Score, score) || !near(h.Score, want[i].Score) {
			t.Fatalf("%s: place %d is %s %v, the oracle gives it %v, and has %s %v there", where, i+1, h.ID, h.Score, score,
				want[i].ID, want[i].Score)
		}
		for _, v := range passages[h.ID] {
			if v.Name != req.Vector.Field {
				continue
			}
			var dot float64
			if h.Passage < len(v.Passages) {
				for j, x := range v.Passages[h.Passage] {
					dot += float64(x) * float64(req.Vector.Vector[j])
				}
			}
			if h.Passage >= len(v.Passages) || !near(dot, score) {
				t.Fatalf("%s: passage %d of %d of %s has similarity %v, the best one %v", where, h.Passage, len(v.Passages), h.ID,
					dot, score)
			}
		}
	}
	if e, ok := a.(store.Explainer); ok && len(got) > 0 {
		last := got[len(got)-1]
		x, err := e.Explain(ctx, req, []sheaf.ID{last.ID})
		if err != nil || len(x) != 1 || x[0] == nil || x[0].Value != last.Score {
			t.Fatalf("%s: %s scores %v, explained as %+v, %v", where, last.ID, last.Score, x, err)
		}
	}
}
