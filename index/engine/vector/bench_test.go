package vector_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf/index/engine/vector"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/static/english"
	"sheaf/text/chunk"
)

// corpus holds vectors, and queries that are not among them.
type corpus struct{ vectors, queries [][]float32 }

// texts embeds the Markdown below a folder with the built-in model, in passages of 80 words with
// their titles. Later rounds cut the text elsewhere. Queries are titles and short sequences of
// words.
func texts(dir string, want int) corpus {
	embedder, err := english.New()
	if err != nil {
		panic(err)
	}
	chunker, err := chunk.New(chunk.Options{})
	if err != nil {
		panic(err)
	}
	var c corpus
	embed := func(to *[][]float32, texts ...string) {
		list, err := embedder.Embed(context.Background(), model.Passage, texts)
		if err != nil {
			panic(err)
		}
		for _, v := range list {
			if v != nil {
				*to = append(*to, v)
			}
		}
	}
	for round := 0; len(c.vectors) < want && round < 12; round++ {
		size := []int{80, 50, 110, 65}[round%4]
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || chunk.KindOf(path) != chunk.KindMarkdown || len(c.vectors) >= want {
				return err
			}
			content, err := os.ReadFile(path)
			doc := chunker.Chunk("t", path, content)
			for _, ch := range doc.Chunks {
				head := strings.Join(ch.Hierarchy, " ") + "\n"
				words := strings.Fields(string(content[ch.Body.Start:ch.Body.End]))
				for start := 7 * round; start == 0 || start < len(words); start += size - 20 {
					embed(&c.vectors, head+strings.Join(words[start:min(len(words), start+size)], " "))
				}
				if at := len(c.vectors); at%61 == 0 && len(words) > 40 && len(c.queries) < 2000 {
					embed(&c.queries, ch.Title, strings.Join(words[at%30:at%30+6], " "))
				}
			}
			return err
		})
		if err != nil {
			panic(err)
		}
	}
	return c
}

// stored reads vectors of float32 numbers from a file. Each 500th vector is a query.
func stored(path string, dims int) corpus {
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	var c corpus
	for i := 0; (i+1)*4*dims <= len(data); i++ {
		v := make([]float32, dims)
		for j := range v {
			v[j] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*(i*dims+j):]))
		}
		if i%500 == 0 {
			c.queries = append(c.queries, v)
		} else {
			c.vectors = append(c.vectors, v)
		}
	}
	return c
}

// collect returns the vectors of the benchmarks: from texts below SHEAF_TEST_DIR, from the file SHEAF_TEST_VECTORS,
// or random clusters. SHEAF_TEST_COUNT (default 100,000) and SHEAF_TEST_DIMS set their sizes; texts have 256
// dimensions.
var collect = sync.OnceValue(func() corpus {
	count, dims := number("SHEAF_TEST_COUNT", 100_000), number("SHEAF_TEST_DIMS", 256)
	r := rand.New(rand.NewPCG(1, 1))
	var c corpus
	switch dir, file := os.Getenv("SHEAF_TEST_DIR"), os.Getenv("SHEAF_TEST_VECTORS"); {
	case file != "":
		c = stored(file, dims)
	case dir != "":
		c = texts(dir, count)
	default:
		c.vectors = passages(r, count+200, dims)
		c.queries, c.vectors = c.vectors[:200], c.vectors[200:]
		for _, q := range c.queries {
			vector.Perturb(q, c.vectors[r.IntN(len(c.vectors))], c.vectors[r.IntN(len(c.vectors))])
		}
	}
	c.vectors = c.vectors[:min(len(c.vectors), count)]
	r.Shuffle(len(c.queries), func(i, j int) { c.queries[i], c.queries[j] = c.queries[j], c.queries[i] })
	queries := 200
	if len(c.vectors) > 500_000 {
		queries = 100 // brute force is slow
	}
	c.queries = c.queries[:min(len(c.queries), queries)]
	return c
})

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// nearest returns the scores of the k nearest float32 vectors, by brute force.
func (c *corpus) nearest(q []float32, k int, allowed []uint64) []float64 {
	var best []float64
	for i, v := range c.vectors {
		if allowed != nil && allowed[i/64]>>(i%64)&1 == 0 {
			continue
		}
		s := float64(dot4(q, v))
		if len(best) == k && s <= best[k-1] {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, s, func(a, b float64) int {
			if a > b {
				return -1
			}
			return 1
		})
		if best = slices.Insert(best, at, s); len(best) > k {
			best = best[:k]
		}
	}
	return best
}

// dot4 unrolls its loop, which is the fastest in plain Go.
func dot4(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// recall counts how many of the k nearest float32 vectors were found. A vector as near as the last
// of them counts too.
func (c *corpus) recall(q []float32, found []vector.Neighbor, exact []float64) (hit, of int) {
	last := exact[len(exact)-1] - 1e-6
	for _, n := range found[:min(len(found), len(exact))] {
		if float64(dot4(q, c.vectors[n.Ordinal])) >= last {
			hit++
		}
	}
	return hit, len(exact)
}

// BenchmarkSearch prints p50 and p99 of two-step, one-step and float32 searches, with and without a filter. It also
// prints their recall against brute force.
func BenchmarkSearch(b *testing.B) {
	c := collect()
	dims := len(c.vectors[0])
	buffer := vector.NewBuffer(dims)
	start := time.Now()
	for i, v := range c.vectors {
		buffer.Add(uint32(i), v)
	}
	set := buffer.Set(len(c.vectors))
	encoding := time.Since(start)
	start = time.Now()
	depth, err := vector.Measure(context.Background().Err, []vector.Part{{Set: set}}, 0)
	must.Do(b, err)
	set.Depth = depth
	b.Logf("%d vectors of %d dimensions, kernel %s; encoded in %v, measured in %v: depth %+v", set.Count, dims,
		vector.Kernel(), encoding, time.Since(start), depth)
	r := rand.New(rand.NewPCG(2, 2))
	for _, f := range []struct {
		name string
		one  int // the filter allows one in this many
	}{{"all", 0}, {"1in2", 2}, {"1in10", 10}, {"1in100", 100}} {
		var allowed []uint64
		if f.one > 0 {
			allowed = filter(r, set.Count, f.one)
		}
		for _, k := range []int{10, 100} {
			exact := make([][]float64, len(c.queries))
			name := fmt.Sprintf("%s/top%d", f.name, k)
			b.Run(name+"/float32", func(b *testing.B) {
				measure(b, func(i int) { exact[i%len(c.queries)] = c.nearest(c.queries[i%len(c.queries)], k, allowed) })
			})
			for _, o := range []struct {
				name string
				vector.Options
			}{{"two-step", vector.Options{}}, {"every-row", vector.Options{Exact: true}}} {
				b.Run(name+"/"+o.name, func(b *testing.B) {
					hit, of := 0, 0
					var found []vector.Neighbor
					for i, q := range c.queries {
						if exact[i] == nil {
							exact[i] = c.nearest(q, k, allowed)
						}
						if found, err = set.Search(context.Background(), found[:0], q, allowed, k, o.Options); err != nil {
							b.Fatal(err)
						}
						h, n := c.recall(q, found, exact[i])
						hit, of = hit+h, of+n
					}
					b.ResetTimer()
					measure(b, func(i int) {
						if found, err = set.Search(context.Background(), found[:0], c.queries[i%len(c.queries)], allowed, k,
							o.Options); err != nil {
							b.Fatal(err)
						}
					})
					b.ReportMetric(float64(hit)/float64(of), "recall")
				})
			}
		}
	}
}

// measure reports p50 and p99 of the elapsed time, and p50 of the processor time.
func measure(b *testing.B, run func(i int)) {
	var took, used []time.Duration
	for i := range b.N {
		start, cpu := time.Now(), cpuTime()
		run(i)
		took, used = append(took, time.Since(start)), append(used, cpuTime()-cpu)
	}
	slices.Sort(took)
	slices.Sort(used)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(used[len(used)/2].Microseconds()), "cpu-p50-µs")
}
