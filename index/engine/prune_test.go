package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sheaf"
	"sheaf/index/engine/bm25"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

var testFields = []string{"title", "body", "tags"}

func testIndex(t testing.TB, dir string, vectors ...VectorModel) *Index {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{}))
	ix := must.Get(Open(Options{Dir: dir, Analyzer: a, Fields: testFields, Vectors: vectors}))
	t.Cleanup(func() {
		err := ix.Close()
		check.That(t, err == nil, "%v", err)
	})
	return ix
}

// word returns one of n words. Low numbers are much more frequent.
func word(rng *rand.Rand, n int) string {
	return "w" + strconv.Itoa(int(float64(n)*rng.Float64()*rng.Float64()*rng.Float64())) + "x"
}

func text(rng *rand.Rand, n, vocabulary int) string {
	var b strings.Builder
	for range n {
		b.WriteString(word(rng, vocabulary))
		b.WriteByte(' ')
	}
	return b.String()
}

func randomChunks(rng *rand.Rand, from, n, vocabulary int) []Chunk {
	chunks := make([]Chunk, n)
	for i := range chunks {
		id := fmt.Sprintf("c%06d", rng.IntN(1000)*1000+from+i)
		length := rng.IntN(20)
		if rng.IntN(40) == 0 {
			length = rng.IntN(600)
		}
		chunks[i] = Chunk{ID: id, Doc: id, Fields: []FieldText{{"title", text(rng, rng.IntN(4), vocabulary)},
			{"body", text(rng, length, vocabulary)}},
			Columns: []Column{{"n", []sheaf.Value{sheaf.NumberValue(float64(rng.IntN(50)))}}}}
		if rng.IntN(5) == 0 {
			chunks[i].Fields = append(chunks[i].Fields, FieldText{"tags", text(rng, 2, 20)})
		}
	}
	return chunks
}

func commit(t testing.TB, ix *Index, remove []string, chunks []Chunk) {
	t.Helper()
	load := must.Get(ix.Begin(context.Background()))
	defer func() {
		err := load.Close()
		check.That(t, err == nil, "%v", err)
	}()
	must.Do(t, load.Add(context.Background(), remove, chunks))
	must.Do(t, load.Commit(context.Background()))
}

// exhaustive answers a request by scoring each match.
func exhaustive(t testing.TB, s *Snapshot, req Request) sheaf.Ranking {
	t.Helper()
	allowed := must.Get(s.allow(&req))
	p := must.Get(newPlan(s, &req, allowed))
	var hits sheaf.Ranking
	for i, v := range s.views {
		root := must.Get(p.root.node(p, i))
		p.exhaust(context.Background(), i, root, func(ordinal uint32, score float64) {
			id := must.Get(v.reader.ID(nil, ordinal))
			hits = append(hits, sheaf.Hit{ID: sheaf.ID(id), Score: score})
		})
		root.close()
	}
	hits.Sort()
	return hits[:min(len(hits), req.Limit)]
}

func randomRequest(rng *rand.Rand, vocabulary int) Request {
	w := &Words{K1: []float64{0, 0.5, 1.2, 3}[rng.IntN(4)], B: []float64{0, 0.4, 0.75, 1}[rng.IntN(4)],
		Combine: Combine(rng.IntN(3)), TieBreaker: []float64{0, 0.3, 1}[rng.IntN(3)], Candidates: rng.IntN(4) == 0,
		Lengths: bm25.Lengths(rng.IntN(2)), AllChunks: rng.IntN(3) == 0}
	for _, f := range testFields {
		if rng.IntN(3) > 0 || len(w.Fields) == 0 {
			w.Fields = append(w.Fields, FieldWeight{f, []float64{0.1, 1, 2.5}[rng.IntN(3)]})
		}
	}
	var parts []sheaf.TextQuery
	for range 1 + rng.IntN(3) {
		var q sheaf.TextQuery = sheaf.Match{Text: text(rng, 1+rng.IntN(4), vocabulary)}
		if rng.IntN(3) == 0 {
			q = sheaf.Match{Text: text(rng, 1, vocabulary), Field: testFields[rng.IntN(3)]}
		}
		switch rng.IntN(8) {
		case 0:
			q = sheaf.Prefix{Text: strings.TrimRight(word(rng, vocabulary), "x")}
		case 1:
			q = sheaf.Fuzzy{Text: word(rng, vocabulary), Distance: 1, Field: testFields[rng.IntN(3)]}
		}
		if rng.IntN(3) == 0 {
			q = sheaf.Boost{Query: q, Factor: 0.5 + 2*rng.Float64()}
		}
		parts = append(parts, q)
	}
	w.Query = sheaf.Bool{Should: parts}
	req := Request{Words: w, Limit: []int{1, 3, 10, 100}[rng.IntN(4)]}
	if rng.IntN(3) == 0 {
		req.Filter = sheaf.Range{Column: "n", Min: sheaf.NumberValue(float64(rng.IntN(50)))}
	}
	return req
}

func sameHits(a, b sheaf.Ranking) bool {
	return slices.EqualFunc(a, b, func(x, y sheaf.Hit) bool {
		return x.ID == y.ID && x.Score == y.Score && x.Passage == y.Passage
	})
}

// TestPruningIsExact checks that block-max retrieval and exhaustive scoring agree to the last bit,
// over several segments with deleted chunks.
func TestPruningIsExact(t *testing.T) {
	usual := parallelPostings
	t.Cleanup(func() { parallelPostings = usual })
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for seed := range uint64(4) {
		chunks, queries, commits := 9000, 150, 3
		if testing.Short() {
			chunks, queries = 5000, 10
		}
		if seed == 3 { // more windows than the first pass evaluates
			chunks, queries, commits = (probes+6)*windowLen, queries/2, 1
		}
		rng := rand.New(rand.NewPCG(seed, 77))
		vocabulary := []int{30, 400, 5000, 1000}[seed]
		ix := testIndex(t, t.TempDir())
		for from := 0; from < chunks; from += chunks/commits + 1 {
			commit(t, ix, nil, randomChunks(rng, from, chunks/commits+1, vocabulary))
		}
		var gone []string
		for _, c := range randomChunks(rng, 0, chunks, vocabulary) {
			gone = append(gone, c.ID)
		}
		commit(t, ix, gone, nil)
		s := must.Get(ix.Acquire())
		for q := range queries {
			// Several goroutines evaluate each second query, even a small one.
			parallelPostings = []int{0, 1 << 30}[q%2]
			req := randomRequest(rng, vocabulary)
			got := must.Get(s.Search(context.Background(), req))
			want := exhaustive(t, s, req)
			must.That(t, sameHits(got, want), "seed %d query %d, %+v of %+v:\n got %v\nwant %v", seed, q, req, *req.Words, got,
				want)
		}
		faults := s.Check(context.Background(), nil)
		must.That(t, len(faults) == 0, "%v", faults)
		must.Do(t, s.Release())
	}
}

// TestStretchesAreExact checks that no hit is lost or doubled, whichever goroutine evaluates which
// stretches of a segment. The test draws the goroutines at random, since real ones depend on the
// machine.
func TestStretchesAreExact(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	const vocabulary, chunks = 400, 8 * windowLen
	rng := rand.New(rand.NewPCG(9, 77))
	ix := testIndex(t, t.TempDir())
	commit(t, ix, nil, randomChunks(rng, 0, chunks, vocabulary))
	commit(t, ix, nil, randomChunks(rng, chunks, chunks/2, vocabulary))
	s := must.Get(ix.Acquire())
	brought := 0
	for range 60 {
		req := randomRequest(rng, vocabulary)
		req.Words.Query = sheaf.Match{Text: text(rng, 1+rng.IntN(5), vocabulary)}
		allowed := must.Get(s.allow(&req))
		p, err := newPlan(s, &req, allowed)
		must.Do(t, err)
		terms, _ := p.root.flat()
		top := newCollector(s, req.Limit)
		var segments []*maxScore
		for _, i := range s.largestFirst {
			m := must.Get(p.maxScore(terms, i, top))
			m.begin()
			segments = append(segments, m)
		}
		probe(t.Context(), segments)
		hands := make([]hand, 3)
		stretches := cut(segments, len(hands))
		for i := range stretches {
			err = errors.Join(err, p.runStretch(t.Context(), terms, &stretches[i], &hands[rng.IntN(len(hands))]))
		}
		for i := range hands {
			err = errors.Join(err, p.finish(&hands[i]))
		}
		for _, m := range segments {
			brought += len(m.brought)
			m.pending = append(m.pending, m.brought...)
			m.confirm()
			err = errors.Join(err, p.faultOf(m))
			m.close()
		}
		must.Do(t, err)
		got, err := top.hits()
		want := exhaustive(t, s, req)
		must.That(t, err == nil && sameHits(got, want), "%+v of %+v: %v\n got %v\nwant %v", req, *req.Words, err, got, want)
	}
	check.That(t, brought != 0, "no goroutine found anything in a segment that another began")
	must.Do(t, s.Release())
}

// TestQueryMemoryPerGoroutine checks that a query takes memory for each goroutine that evaluates it, not
// for each stretch.
func TestQueryMemoryPerGoroutine(t *testing.T) {
	must.Whole(t, "short")
	usual, construct := parallelPostings, scratches.New
	t.Cleanup(func() {
		parallelPostings = usual
		scratches = sync.Pool{New: construct}
	})
	parallelPostings = 0
	const processors = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	ix := testIndex(t, t.TempDir())
	commit(t, ix, nil, randomChunks(rand.New(rand.NewPCG(5, 77)), 0, 4*processors*windowLen, 400))
	s := must.Get(ix.Acquire())
	// The smallest of several queries counts: a pool may drop its memory.
	least := int64(math.MaxInt64)
	for range 20 {
		var made atomic.Int64
		scratches = sync.Pool{New: func() any { made.Add(1); return construct() }}
		req := Request{Limit: 10, Words: &Words{K1: 1.2, B: 0.75, Query: sheaf.Match{Text: "w0x w1x w2x w3x"},
			Fields: []FieldWeight{{"body", 1}}}}
		hits, err := s.Search(t.Context(), req)
		must.That(t, err == nil && len(hits) == req.Limit, "%v %v", hits, err)
		least = min(least, made.Load())
	}
	if most := int64(1 + processors); least > most {
		t.Errorf("one segment and %d goroutines took %d scratches, at most %d are used at once", processors, least, most)
	}
	must.Do(t, s.Release())
}

// TestBoundsDespiteRounding checks that bounds of BM25F lose no hit, although lengths are rounded to 32 bits. It also
// checks an infinite weight.
func TestBoundsDespiteRounding(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	ix := testIndex(t, t.TempDir())
	var chunks []Chunk
	for i := range 9 * windowLen {
		id := fmt.Sprintf("c%06d", 99_999-i) // of equal scores, the last chunk is the first hit
		c := Chunk{ID: id, Doc: id, Fields: []FieldText{{"body", "alpha beta gamma"}}}
		if i%3 == 1 {
			c.Fields = []FieldText{{"title", "gamma"}}
		}
		chunks = append(chunks, c)
	}
	chunks[5].Fields[0].Name = "title"
	commit(t, ix, nil, chunks)
	s := must.Get(ix.Acquire())
	defer s.Release()
	for _, weight := range []float64{0.35, 0.45, 0.7, 0.9, 1.3, 1.4} {
		for _, boost := range []float64{1, math.Inf(1)} {
			req := Request{Limit: 2, Words: &Words{K1: 1.2, B: 0.75, Combine: CombineBM25F,
				Query:  sheaf.Boost{Query: sheaf.Match{Text: "alpha"}, Factor: boost},
				Fields: []FieldWeight{{"title", 1}, {"body", weight}}}}
			check.Equal(t, fmt.Sprint(must.Get(s.Search(t.Context(), req))), fmt.Sprint(exhaustive(t, s, req)),
				"weight %v, boost %v", weight, boost)
		}
	}
}

// endsAfter is a context that ends after asked calls of Err.
type endsAfter struct {
	context.Context
	asked atomic.Int64
}

func (c *endsAfter) Err() error {
	if c.asked.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestManyWords checks a query of more clauses than arrange inserts one by one. A search looks at its context before
// each window. With a limit below 1, it finds nothing.
func TestManyWords(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	rng := rand.New(rand.NewPCG(4, 6))
	ix := testIndex(t, t.TempDir())
	commit(t, ix, nil, randomChunks(rng, 0, 4*windowLen, 3000))
	s := must.Get(ix.Acquire())
	defer s.Release()
	words := &Words{Query: sheaf.Match{Text: text(rng, 4*manyClauses, 3000)}, K1: 1.2, B: 0.75,
		Fields: []FieldWeight{{"title", 2}, {"body", 1}}}
	for _, words.Combine = range []Combine{CombineSum, CombineBest, CombineBM25F} {
		req := Request{Words: words, Limit: 10}
		ctx := &endsAfter{Context: t.Context()}
		ctx.asked.Store(1000)
		got := must.Get(s.Search(ctx, req))
		check.Equal(t, fmt.Sprint(got), fmt.Sprint(exhaustive(t, s, req)), "combine %v", words.Combine)
		asked := 1000 - ctx.asked.Load()
		check.That(t, asked >= 4, "Search called Err %d times", asked)
		for _, req.Limit = range []int{0, -1} {
			hits := must.Get(s.Search(t.Context(), req))
			check.Equal(t, len(hits)+len(must.Get(s.Sorted(t.Context(), req, Order{Column: "n"}))), 0, "limit %d", req.Limit)
		}
	}
}
