package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

// clusters returns chunks whose vectors form clusters, with one or two passages each.
func clusters(rng *rand.Rand, prefix string, n, dims int) []Chunk {
	centers := make([][]float32, 1+n/40)
	for i := range centers {
		centers[i] = gaussian(rng, nil, dims)
	}
	chunks := make([]Chunk, n)
	for i := range chunks {
		id := fmt.Sprintf("%s%06d", prefix, i)
		chunks[i] = Chunk{ID: id, Doc: id}
		v := Vectors{Name: "body"}
		for range 1 + rng.IntN(2) {
			v.Passages = append(v.Passages, gaussian(rng, centers[rng.IntN(len(centers))], dims))
		}
		chunks[i].Vectors = []Vectors{v}
	}
	return chunks
}

// gaussian returns a random unit vector around a center, which may be nil.
func gaussian(rng *rand.Rand, center []float32, dims int) []float32 {
	v, square := make([]float32, dims), 0.0
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		if center != nil {
			v[i] = v[i]*0.7 + center[i]*float32(math.Sqrt(float64(dims)))
		}
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(square))
	}
	return v
}

// TestRecall checks an index with a large and a small segment. Searches lose almost nothing,
// compare all vectors on request, and score chunks of both segments the same.
func TestRecall(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	const dims = 48
	ix, err := Open(Options{Dir: t.TempDir(), Analyzer: a, Fields: testFields,
		Vectors: []VectorModel{{"body", "test", dims}}})
	must.Do(t, err)
	defer ix.Close()
	ix.PauseMerges()
	defer ix.ResumeMerges()
	rng := rand.New(rand.NewPCG(4, 4))
	large := clusters(rng, "a", 15000, dims)
	commit(t, ix, nil, large)
	small := clusters(rng, "b", 300, dims)
	small[0].Vectors = large[7].Vectors
	commit(t, ix, []string{large[3].ID}, small)
	s, err := ix.Acquire()
	must.Do(t, err)
	defer s.Release()
	// others returns the chunks with the vectors that are shift places later.
	others := func(shift int) Originals {
		return func(_ context.Context, yield func(field, chunk string, passages [][]float32)) error {
			all := slices.Concat(large, small)
			for i, c := range all {
				if c.ID != large[3].ID {
					yield("body", c.ID, all[(i+shift)%len(all)].Vectors[0].Passages)
				}
			}
			return nil
		}
	}
	var told [][2]int
	list, err := s.Recall(t.Context(), RecallOptions{Queries: 40, Originals: others(0), Progress: func(done, total int) {
		told = append(told, [2]int{done, total})
	}})
	must.That(t, err == nil && len(list) == 1, "%v, %v", list, err)
	if last := told[len(told)-2:]; last[0] != [2]int{40 + 15299, 40 + 15299} || last[1] != last[0] {
		t.Errorf("the last that is told of progress is %v", last)
	}
	r := list[0]
	check.That(t, r.Field == "body" && r.Queries == 40 && r.At10 >= 0.98 && r.At100 >= 0.98 && r.At10 <= 1 &&
		!r.Exhaustive && r.Passages >= 20000 && r.Originals == 15299 && r.Float10 >= 0.97 && r.Float100 >= 0.97 &&
		r.Float10 <= 1 && r.Float100 <= 1 && r.Float100 != r.At100, "%+v", r)
	if list, err := s.Recall(t.Context(), RecallOptions{Queries: 5, Originals: others(5000)}); err != nil ||
		list[0].Float10 > 0.5 || list[0].Float100 > 0.5 {
		t.Errorf("the nearest of other vectors: %+v, %v", list, err)
	}
	uneven := func(_ context.Context, yield func(field, chunk string, passages [][]float32)) error {
		yield("body", large[7].ID, [][]float32{large[7].Vectors[0].Passages[0], {1}})
		return nil
	}
	told = nil
	list, err = s.Recall(t.Context(), RecallOptions{Queries: 5, Originals: uneven, Progress: func(done, total int) {
		told = append(told, [2]int{done, total})
	}})
	check.That(t, err == nil && list[0].Originals == 0, "a passage of another model: %+v, %v", list, err)
	last := told[len(told)-1]
	check.That(t, last[0] == last[1], "the last that is told of progress is %v", last)
	req := Request{Vector: &Vector{Field: "body", Vector: large[7].Vectors[0].Passages[0]}, Limit: 2}
	hits, err := s.Search(t.Context(), req)
	check.That(t, err == nil && len(hits) == 2 && string(hits[0].ID) == large[7].ID && string(hits[1].ID) == small[0].ID &&
		hits[0].Score == hits[1].Score && math.Abs(hits[0].Score-1) <= 1e-4, "%v, %v", hits, err)
	req.Vector = &Vector{Field: "body", Vector: gaussian(rng, nil, dims), Exact: true}
	req.Limit = 200
	exact := must.Get(s.Search(t.Context(), req))
	req.Vector.Exact, req.Vector.Candidates = false, 1<<30
	if hits, err := s.Search(t.Context(), req); err != nil || fmt.Sprint(hits) != fmt.Sprint(exact) {
		t.Errorf("with every passage a candidate %v, compared %v; %v", hits, exact, err)
	}
	found, err := s.Explain(t.Context(), req, []sheaf.ID{exact[150].ID, sheaf.ID(large[3].ID)})
	check.That(t, err == nil && found[0] != nil && found[0].Value == exact[150].Score && found[1] == nil,
		"explained %v, scored %v; %v", found, exact[150], err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, must.Err(s.Recall(ctx, RecallOptions{Queries: 5})), context.Canceled, "cancelled")
}
