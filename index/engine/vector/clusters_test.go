package vector_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf/index/engine/vector"
	"sheaf/internal/must"
)

// clustered is a set of vectors, sorted by cluster.
type clustered struct {
	corpus
	centers [][]float32
	begins  []int // start of each cluster, then the end of the last
	set     *vector.Set
}

// nearestCenter returns the number of the center nearest to v.
func nearestCenter(centers [][]float32, v []float32) int {
	best, at := float32(math.Inf(-1)), 0
	for i, c := range centers {
		if s := dot4(c, v); s > best {
			best, at = s, i
		}
	}
	return at
}

// cluster sorts vectors into clusters, as many as the square root of their number, by k-means over a sample.
func cluster(b *testing.B, c corpus) *clustered {
	r := rand.New(rand.NewPCG(3, 3))
	n, dims := int(math.Sqrt(float64(len(c.vectors)))), len(c.vectors[0])
	out := &clustered{corpus: corpus{queries: c.queries}, centers: make([][]float32, n)}
	sample := make([][]float32, min(64*n, len(c.vectors)))
	for i := range sample {
		sample[i] = c.vectors[r.IntN(len(c.vectors))]
	}
	copy(out.centers, sample)
	for range 8 {
		sums := make([][]float32, n)
		for _, v := range sample {
			at := nearestCenter(out.centers, v)
			if sums[at] == nil {
				sums[at] = make([]float32, dims)
			}
			for j, x := range v {
				sums[at][j] += x
			}
		}
		for i, s := range sums {
			if s == nil {
				continue
			}
			length := float32(math.Sqrt(float64(dot4(s, s))))
			for j := range s {
				s[j] /= length
			}
			out.centers[i] = s
		}
	}
	members := make([][][]float32, n)
	for _, v := range c.vectors {
		at := nearestCenter(out.centers, v)
		members[at] = append(members[at], v)
	}
	buffer := vector.NewBuffer(dims)
	for _, list := range members {
		out.begins = append(out.begins, len(out.vectors))
		for _, v := range list {
			buffer.Add(uint32(len(out.vectors)), v)
			out.vectors = append(out.vectors, v)
		}
	}
	out.begins = append(out.begins, len(out.vectors))
	out.set = buffer.Set(len(out.vectors))
	depth := must.Get(vector.Measure(context.Background().Err, []vector.Part{{Set: out.set}}, 0))
	out.set.Depth = depth
	return out
}

// probe returns a filter for the allowed vectors of the clusters nearest to q.
func (c *clustered) probe(q []float32, clusters int, allowed []uint64) []uint64 {
	scores, order := make([]float32, len(c.centers)), make([]int, len(c.centers))
	for i, center := range c.centers {
		scores[i], order[i] = dot4(center, q), i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	out := make([]uint64, (len(c.vectors)+63)/64)
	for _, at := range order[:clusters] {
		for i := c.begins[at]; i < c.begins[at+1]; i++ {
			out[i/64] |= 1 << (i % 64)
		}
	}
	for i := range allowed {
		out[i] &= allowed[i]
	}
	return out
}

// BenchmarkClusters compares scans of all codes with scans of only the nearest clusters, at the
// recall of each. It runs without a filter and with one that allows one in a hundred. The result
// shows whether an inverted file would help.
func BenchmarkClusters(b *testing.B) {
	c := cluster(b, collect())
	b.Logf("%d vectors in %d clusters, kernel %s, depth %+v", len(c.vectors), len(c.centers), vector.Kernel(), c.set.Depth)
	r := rand.New(rand.NewPCG(2, 2))
	for _, f := range []struct {
		name    string
		allowed []uint64
	}{{"all", nil}, {"1in100", filter(r, len(c.vectors), 100)}} {
		exact := make([][]float64, len(c.queries))
		for i, q := range c.queries {
			exact[i] = c.nearest(q, 10, f.allowed)
		}
		for _, percent := range []int{100, 50, 20, 10, 5, 2} {
			b.Run(fmt.Sprintf("%s/%d%%", f.name, percent), func(b *testing.B) {
				var found []vector.Neighbor
				search := func(q []float32) {
					allowed, err := f.allowed, error(nil)
					if percent < 100 {
						allowed = c.probe(q, max(1, len(c.centers)*percent/100), f.allowed)
					}
					if found, err = c.set.Search(context.Background(), found[:0], q, allowed, 10, vector.Options{}); err != nil {
						b.Fatal(err)
					}
				}
				hit, of := 0, 0
				for i, q := range c.queries {
					search(q)
					h, n := c.recall(q, found, exact[i])
					hit, of = hit+h, of+n
				}
				b.ResetTimer()
				measure(b, func(i int) { search(c.queries[i%len(c.queries)]) })
				b.ReportMetric(float64(hit)/float64(of), "recall")
			})
		}
	}
}
