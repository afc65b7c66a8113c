package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// emptyPools makes the next query use new memory.
func emptyPools() {
	cursors, positionReaders = sync.Pool{New: cursors.New}, sync.Pool{New: positionReaders.New}
	scratches = sync.Pool{New: scratches.New}
}

// TestPlansInReusedMemory checks that reused memory gives the same answers as new memory, to the last
// bit. Other requests run before and at the same time.
func TestPlansInReusedMemory(t *testing.T) {
	const vocabulary = 60
	rng := rand.New(rand.NewPCG(3, 77))
	ix := testIndex(t, t.TempDir())
	chunks := randomChunks(rng, 0, 1500, vocabulary)
	commit(t, ix, nil, chunks[:1000])
	commit(t, ix, nil, chunks[1000:])
	commit(t, ix, []string{chunks[3].ID, chunks[1200].ID}, nil)
	s, err := ix.Acquire()
	must.Do(t, err)
	t.Cleanup(func() {
		err := s.Release()
		check.That(t, err == nil, "%v", err)
	})
	var ids []sheaf.ID
	for i := 0; i < len(chunks); i += 7 {
		ids = append(ids, sheaf.ID(chunks[i].ID))
	}
	var reqs []Request
	for i := range 40 {
		req := randomRequest(rng, vocabulary)
		switch i % 4 {
		case 0:
			req.Words.Query = sheaf.Phrase{Text: text(rng, 2+rng.IntN(3), vocabulary), Slop: rng.IntN(3)}
		case 1:
			req.Words.Query = sheaf.Match{Text: text(rng, 1+rng.IntN(30), vocabulary)}
		case 2:
			req.Words.Query = sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Match{Text: word(rng, vocabulary)},
				sheaf.Phrase{Text: text(rng, 2, vocabulary), Field: "body"}}}
		}
		reqs = append(reqs, req)
	}
	type answer struct {
		hits   sheaf.Ranking
		count  int
		scores [][]float64
		why    []*sheaf.Explanation
	}
	ask := func(i int) (a answer, err error) {
		req := reqs[i]
		if a.hits, err = s.Search(t.Context(), req); err != nil {
			return a, err
		}
		if a.count, err = s.Count(t.Context(), req); err != nil {
			return a, err
		}
		a.scores = [][]float64{make([]float64, len(ids)), make([]float64, len(ids)), make([]float64, len(ids))}
		if err = s.Scores(t.Context(), a.scores, []Request{req, reqs[(i+1)%len(reqs)], req}, ids, i%3); err != nil {
			return a, err
		}
		a.why, err = s.Explain(t.Context(), req, ids[:5])
		return a, err
	}
	want := make([]answer, len(reqs))
	found := 0
	for i := range reqs {
		emptyPools()
		if want[i], err = ask(i); err != nil {
			t.Fatal(err)
		}
		found += len(want[i].hits)
	}
	must.That(t, found != 0, "no request finds anything")
	same := func(i int) error {
		got, err := ask(i)
		if err == nil && !reflect.DeepEqual(got, want[i]) {
			err = fmt.Errorf("request %d, %+v of %+v:\n got %v\nwant %v", i, reqs[i], *reqs[i].Words, got, want[i])
		}
		return err
	}
	for range 2 {
		for _, i := range rng.Perm(len(reqs)) {
			must.Do(t, same(i))
		}
	}
	var wait sync.WaitGroup
	for range 6 {
		order := rng.Perm(len(reqs))
		wait.Go(func() {
			for _, i := range order {
				if err := same(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// TestLargeQueriesRelease checks that memory of a query with very many words is not kept for small queries.
func TestLargeQueriesRelease(t *testing.T) {
	ix := testIndex(t, t.TempDir())
	var words strings.Builder
	for i := range 3 * mostClauses {
		fmt.Fprintf(&words, "w%dx ", i)
	}
	commit(t, ix, nil, []Chunk{{ID: "c", Doc: "c",
		Fields: []FieldText{{"body", words.String()}, {"title", words.String()}}}})
	s := must.Get(ix.Acquire())
	req := Request{Words: &Words{Query: sheaf.Match{Text: words.String()},
		Fields: []FieldWeight{{"body", 1}, {"title", 1}}}}
	p := must.Get(s.planOf(&req))
	terms, _ := p.root.flat()
	m := must.Get(p.maxScore(terms, 0, newCollector(s, 1)))
	used := m.scratch
	m.close()
	next := scratches.Get()
	check.That(t, next != any(used), "an evaluation keeps %d clauses", cap(used.clauses))
	must.Do(t, s.Release())
}
