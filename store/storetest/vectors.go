package storetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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

// checkVectors compares the answers of two stores to a request by vector.
func checkVectors(t *testing.T, where string, req store.Request, a, oracle store.Backend,
	passages map[sheaf.ID][]store.Vectors) {
	t.Helper()
	near := func(x, y float64) bool { return math.Abs(x-y) <= vectorTolerance }
	got, scores := compare(t, where, req, a, oracle, near)
	for _, h := range got {
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
			if h.Passage >= len(v.Passages) || !near(dot, scores[h.ID]) {
				t.Fatalf("%s: passage %d of %d of %s has similarity %v, the best one %v", where, h.Passage, len(v.Passages), h.ID,
					dot, scores[h.ID])
			}
		}
	}
	if len(got) > 0 {
		checkExplanation(t, where, req, a, got[len(got)-1])
	}
}
