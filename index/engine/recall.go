package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/index/engine/segment"
	"sheaf/index/engine/vector"
)

// Recall says how many of the truly nearest chunks a search in one vector field finds. At10 is the share of the 10
// nearest chunks that a search for 10 chunks finds. At100 is the share of the 100 nearest chunks that a search for 100
// finds. Both are means over the queries.
type Recall struct {
	Field    string
	Dims     int
	Passages int // including those of deleted chunks
	Chunks   int // chunks with passages, including deleted ones
	Queries  int // how many queries were measured; 0 when the field has no vectors
	At10     float64
	At100    float64
	// Exhaustive means that searches compare every vector. Then a search cannot miss a chunk.
	Exhaustive bool
	// Originals is the number of chunks whose vectors before rounding (float32) were compared, 0 without originals.
	// Float10 and Float100 are like At10 and At100, but these vectors decide which chunks are nearest.
	Originals         int
	Float10, Float100 float64
	// Search and BruteForce are the median times of one search for 10 chunks. Search is a usual search, and BruteForce
	// one that compares every vector.
	Search, BruteForce time.Duration
}

// RecallOptions say how to measure recall.
type RecallOptions struct {
	// Queries is the number of sampled queries for each field.
	Queries int
	// Originals supplies the vectors before rounding. If nil, Recall compares only with the stored vectors.
	Originals Originals
	// Progress, if not nil, gets the amount of work done, and the total.
	Progress func(done, total int)
}

// Recall compares usual searches with searches that compare every stored vector, for each vector field.
//
// The queries are stored vectors drawn at random. Every second query is moved to a cosine of about 0.7 with the stored
// vector. So it differs from the vectors of the index. Stored vectors are rounded to nine bits for each dimension, and
// the index does not keep the originals. So the numbers include the loss by rounding only if o supplies the originals.
// The same snapshot gives the same numbers, except for the times.
func (s *Snapshot) Recall(ctx context.Context, o RecallOptions) ([]Recall, error) {
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	var list []Recall
	total := 0
	for _, v := range s.views {
		var live segment.Bitset // nil when all are live
		if v.deleted != nil {
			live = segment.NewBitset(v.reader.Chunks())
			live.Fill(v.reader.Chunks())
			live.AndNot(v.deleted)
		}
		for _, index := range v.reader.VectorFields() {
			f := index.Field()
			at := slices.IndexFunc(list, func(r Recall) bool { return r.Field == f.Name })
			if at < 0 {
				at = len(list)
				list = append(list, Recall{Field: f.Name, Dims: f.Dims, Exhaustive: true})
			}
			list[at].Passages += f.Passages
			list[at].Chunks += f.Owned
			list[at].Exhaustive = list[at].Exhaustive && f.Depth == vector.Depth{}
			if o.Originals != nil {
				n, err := index.Count(live)
				if err != nil {
					return nil, fmt.Errorf("vector field %q: %w", f.Name, err)
				}
				total += n
			}
		}
	}
	slices.SortFunc(list, func(a, b Recall) int { return strings.Compare(a.Field, b.Field) })
	asked := make([][]*original, len(list))
	total += len(list) * o.Queries
	for i := range list {
		var err error
		asked[i], err = s.recall(ctx, &list[i], o.Queries, func(done int) { o.Progress(i*o.Queries+done, total) })
		if err != nil {
			return nil, err
		}
	}
	if o.Originals != nil {
		done := func(chunks int) { o.Progress(min(len(list)*o.Queries+chunks, total), total) }
		if err := compareOriginals(ctx, o.Originals, list, asked, done); err != nil {
			return list, err
		}
	}
	o.Progress(total, total) // some originals may be missing
	return list, nil
}

// recall measures the field of r with a number of queries, and writes the results to r. progress gets the number of
// finished queries. recall returns the queries, so that compareOriginals can use them.
func (s *Snapshot) recall(ctx context.Context, r *Recall, queries int, progress func(done int)) (asked []*original,
	err error) {
	rng := rand.New(rand.NewPCG(uint64(r.Passages), 0x7265_6361_6c6c))
	var found10, found100, want10, want100 int
	var took, bruteForce []time.Duration
	for i := range queries {
		progress(i)
		v, err := s.drawQuery(rng, r, i%2 == 1)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		r.Queries++
		search := func(limit int, exact bool) (hits sheaf.Ranking, took time.Duration, err error) {
			start := time.Now()
			hits, err = s.Search(ctx, Request{Vector: &Vector{Field: r.Field, Vector: v, Exact: exact}, Limit: limit})
			return hits, time.Since(start), err
		}
		exact, _, err := search(100, true)
		if err != nil {
			return nil, err
		}
		most, _, err := search(100, false)
		if err != nil {
			return nil, err
		}
		ten, t, err := search(10, false)
		if err != nil {
			return nil, err
		}
		_, b, err := search(10, true)
		if err != nil {
			return nil, err
		}
		asked = append(asked, newOriginal(v, ten, most))
		took, bruteForce = append(took, t), append(bruteForce, b)
		found10, want10 = found10+recalled(ten, exact[:min(10, len(exact))]), want10+min(10, len(exact))
		found100, want100 = found100+recalled(most, exact), want100+len(exact)
	}
	if r.Queries > 0 && want100 > 0 {
		r.At10, r.At100 = float64(found10)/float64(want10), float64(found100)/float64(want100)
		slices.Sort(took)
		slices.Sort(bruteForce)
		r.Search, r.BruteForce = took[len(took)/2], bruteForce[len(bruteForce)/2]
	}
	return asked, nil
}

// recalled returns how many hits in found are at least as near as the last hit in exact. exact is the result of brute
// force. So recalled also counts a hit outside exact that is as near as this last hit.
func recalled(found, exact sheaf.Ranking) int {
	n := 0
	for _, h := range found[:min(len(found), len(exact))] {
		if h.Score >= exact[len(exact)-1].Score {
			n++
		}
	}
	return n
}

// drawQuery returns a random vector of a field. If moved is true, it moves the vector away from the stored vectors.
// drawQuery returns nil if the field has no vectors, or if all drawn vectors are deleted.
func (s *Snapshot) drawQuery(rng *rand.Rand, r *Recall, moved bool) ([]float32, error) {
	v, err := s.drawVector(rng, r)
	if err != nil || v == nil || !moved {
		return v, err
	}
	from, err := s.drawVector(rng, r)
	if err != nil {
		return nil, err
	}
	to, err := s.drawVector(rng, r)
	if err == nil && from != nil && to != nil {
		vector.Perturb(v, from, to)
	}
	return v, err
}

// drawVector returns a random vector of a chunk that is not deleted. It returns nil if the field has no vectors, or if
// 20 draws find only vectors of deleted chunks.
func (s *Snapshot) drawVector(rng *rand.Rand, r *Recall) ([]float32, error) {
	for range 20 {
		if r.Passages == 0 {
			return nil, nil
		}
		at := rng.IntN(r.Passages)
		for _, v := range s.views {
			index := v.reader.VectorField(r.Field)
			if index == nil {
				continue
			}
			if n := index.Field().Passages; at >= n {
				at -= n
				continue
			}
			set, err := index.Set()
			if err != nil {
				return nil, err
			}
			if owner := set.Owner(at); v.deleted == nil || !v.deleted.Has(owner) {
				out := make([]float32, r.Dims)
				if err := set.At(out, at); err != nil {
					return nil, fmt.Errorf("vector field %q: %w", r.Field, err)
				}
				return out, nil
			}
			break
		}
	}
	return nil, nil
}
