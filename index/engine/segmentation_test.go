package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf"
	"sheaf/internal/must"
)

// spread commits chunks in parts and in random order. Each part also has older versions of some
// chunks of later parts, and chunks that are deleted at the end.
func spread(t testing.TB, rng *rand.Rand, ix *Index, chunks []Chunk, parts, vocabulary int) {
	t.Helper()
	ix.PauseMerges()
	t.Cleanup(ix.ResumeMerges)
	chunks = slices.Clone(chunks)
	rng.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
	share := len(chunks)/parts + 1
	var gone []string
	for from := 0; from < len(chunks); from += share {
		end := min(from+share, len(chunks))
		batch := slices.Clone(chunks[from:end])
		var replace []string
		for _, c := range batch {
			replace = append(replace, c.Doc)
		}
		for i := range share / 4 {
			c := chunks[rng.IntN(len(chunks))]
			if later := end + rng.IntN(len(chunks)); i%2 == 0 && later < len(chunks) {
				c = chunks[later]
			} else {
				c.ID = fmt.Sprintf("gone%d.%d", from, i)
				c.Doc = c.ID
				gone = append(gone, c.ID)
			}
			c.Fields = []FieldText{{"body", text(rng, 30, vocabulary)}}
			batch = append(batch, c)
		}
		commit(t, ix, replace, batch)
	}
	commit(t, ix, gone, nil)
}

// anyRequest returns a request with all kinds of parts.
func anyRequest(rng *rand.Rand, vocabulary int) Request {
	req := randomRequest(rng, vocabulary)
	var query func(depth int) sheaf.TextQuery
	query = func(depth int) sheaf.TextQuery {
		field := []string{"", "", "", "title", "body", "tags", "none"}[rng.IntN(7)]
		switch n := rng.IntN(9); {
		case n < 2 || depth == 0:
			return sheaf.Match{Text: text(rng, 1+rng.IntN(4), vocabulary), Field: field}
		case n == 2:
			return sheaf.Phrase{Text: text(rng, 1+rng.IntN(3), min(vocabulary, 30)), Field: field, Slop: rng.IntN(4)}
		case n == 3:
			return sheaf.Prefix{Text: word(rng, vocabulary)[:2], Field: field}
		case n == 4:
			return sheaf.Fuzzy{Text: word(rng, vocabulary), Distance: 1 + rng.IntN(2), Field: field}
		case n == 5:
			return sheaf.Boost{Query: query(depth - 1), Factor: []float64{0.5, 1.7}[rng.IntN(2)]}
		}
		var b sheaf.Bool
		for _, list := range []*[]sheaf.TextQuery{&b.Must, &b.Should, &b.Should, &b.MustNot} {
			if rng.IntN(2) == 0 {
				*list = append(*list, query(depth-1))
			}
		}
		return b
	}
	if rng.IntN(3) > 0 {
		req.Words.Query = query(3)
	}
	return req
}

// TestSegmentsDoNotMatter checks that the same chunks give exactly the same answer, for any division into segments.
func TestSegmentsDoNotMatter(t *testing.T) {
	must.Whole(t, "hundreds of searches in one goroutine")
	const dims = 16
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 78))
		const count, queries = 4000, 150
		vocabulary := []int{30, 400, 5000}[seed%3]
		chunks := randomChunks(rng, 0, count, vocabulary)
		vectors := make([][]float32, 200) // few, so many chunks share a vector
		for i := range vectors {
			for range dims {
				vectors[i] = append(vectors[i], float32(rng.NormFloat64()))
			}
		}
		for i := range chunks {
			chunks[i].ID = fmt.Sprintf("d%d", rng.Uint64())
			chunks[i].Doc = chunks[i].ID
			if rng.IntN(4) > 0 {
				v := Vectors{Name: "body"}
				for range 1 + rng.IntN(3) {
					v.Passages = append(v.Passages, vectors[rng.IntN(len(vectors))])
				}
				chunks[i].Vectors = []Vectors{v}
			}
		}
		var snapshots []*Snapshot
		for _, parts := range []int{1, 5, 30} {
			ix := testIndex(t, t.TempDir(), VectorModel{"body", "test", dims})
			if parts == 1 {
				commit(t, ix, nil, chunks)
			} else {
				spread(t, rng, ix, chunks, parts, vocabulary)
			}
			s := must.Get(ix.Acquire())
			n := len(s.views)
			must.That(t, n >= parts && s.Chunks() == count, "%d parts are %d segments of %d chunks", parts, n, s.Chunks())
			snapshots = append(snapshots, s)
		}
		for q := range queries {
			req := anyRequest(rng, vocabulary)
			if q%6 == 5 {
				req.Words, req.Vector = nil, &Vector{Field: "body", Vector: vectors[rng.IntN(len(vectors))], Exact: true}
			}
			var want sheaf.Ranking
			for i, s := range snapshots {
				got := must.Get(s.Search(t.Context(), req))
				if i == 0 {
					want = got
				} else if !sameHits(got, want) {
					t.Fatalf("seed %d query %d, %+v of %+v %+v, in %d segments:\n got %v\nwant %v", seed, q, req, req.Words,
						req.Vector, len(s.views), got, want)
				}
			}
		}
		for _, s := range snapshots {
			must.Do(t, s.Release())
		}
	}
}
