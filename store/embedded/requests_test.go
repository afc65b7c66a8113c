package embedded_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/embedded"
)

// TestRequestsInReusedMemory checks that requests get the same answers alone, at the same time as others, and
// afterwards.
func TestRequestsInReusedMemory(t *testing.T) {
	vocabulary := strings.Fields("cat dog bird fish cow hen goat")
	rng := rand.New(rand.NewPCG(8, 21))
	text := func(n int) string {
		var words []string
		for range n {
			words = append(words, vocabulary[rng.IntN(len(vocabulary))])
		}
		return strings.Join(words, " ")
	}
	vector := func() []float32 {
		a := 2 * math.Pi * rng.Float64()
		return []float32{float32(math.Cos(a)), float32(math.Sin(a))}
	}
	model := store.VectorField{Name: "meaning", Model: "test", Dims: 2}
	st := open(t, embedded.Options{Dir: t.TempDir(), Vectors: []store.VectorField{model}})
	var all []sheaf.ID
	var batch store.Batch
	for i := range 300 {
		c := note(fmt.Sprintf("t:n%d.md", i), fmt.Sprintf("t:n%d.md", i), text(2), text(1+rng.IntN(20)))
		c.Vectors = []store.Vectors{{Name: model.Name, Passages: [][]float32{vector()}}}
		batch.Chunks, all = append(batch.Chunks, c), append(all, c.ID)
	}
	must.Do(t, st.Write(t.Context(), batch))
	must.Do(t, st.Write(t.Context(), store.Batch{Replace: all[:20]}))
	var reqs []store.Request
	for i := range 60 {
		req := words(sheaf.Match{Text: text(1 + rng.IntN(4))})
		switch i % 4 {
		case 1:
			req = words(sheaf.Phrase{Text: text(2), Slop: rng.IntN(2)})
		case 2:
			req.Within = all[rng.IntN(100):200]
		case 3:
			req = store.Request{Limit: 10, Vector: &store.VectorRequest{Field: model.Name, Vector: vector()}}
		}
		reqs = append(reqs, req)
	}
	type answer struct {
		ranking sheaf.Ranking
		count   int
		scores  [][]float64
	}
	ask := func(i int) (a answer, err error) {
		if a.ranking, err = st.Retrieve(t.Context(), reqs[i]); err != nil {
			return a, err
		}
		if a.count, err = st.Count(t.Context(), reqs[i]); err != nil {
			return a, err
		}
		if reqs[i].Text != nil {
			a.scores, err = st.Scores(t.Context(), []store.Request{reqs[i], reqs[0], reqs[i/4*4+1]}, all)
		}
		return a, err
	}
	want := make([]answer, len(reqs))
	for i := range reqs {
		var err error
		want[i], err = ask(i)
		must.That(t, err == nil && len(want[i].ranking) != 0, "request %d: %d found, %v", i, len(want[i].ranking), err)
	}
	var wait sync.WaitGroup
	for range 6 {
		order := rng.Perm(len(reqs))
		wait.Go(func() {
			for _, i := range order {
				if got, err := ask(i); err != nil || !reflect.DeepEqual(got, want[i]) {
					t.Errorf("request %d: %v\n got %v\nwant %v", i, err, got, want[i])
					return
				}
			}
		})
	}
	wait.Wait()
}
