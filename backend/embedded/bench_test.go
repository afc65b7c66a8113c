package embedded_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/backend"
	"sheaf/backend/embedded"
	"sheaf/chunk"
)

// collection is what the benchmarks index: the Markdown below SHEAF_TEST_DIR, or
// made-up text, repeated with other words until there are SHEAF_TEST_CHUNKS.
type collection struct {
	batches []backend.Batch // one a document
	chunks  int
	bytes   int64    // of the texts of the documents
	words   []string // as they come, for queries
}

var collect = sync.OnceValue(func() *collection {
	c := &collection{}
	chunker, err := chunk.New(chunk.Options{})
	if err != nil {
		panic(err)
	}
	want, _ := strconv.Atoi(os.Getenv("SHEAF_TEST_CHUNKS"))
	for round := 0; round == 0 || c.chunks < want; round++ {
		before := c.chunks
		files(func(path string, content []byte) {
			if want > 0 && c.chunks >= want {
				return
			}
			if round > 0 {
				path = fmt.Sprintf("%d/%s", round, path)
				content = respell(content, round)
			}
			c.add(chunker.Chunk("t", path, content), content)
		})
		if c.chunks == before {
			break
		}
	}
	return c
})

// respell changes some words, so that copies of a text are not the same.
func respell(content []byte, round int) []byte {
	words := strings.Fields(string(content))
	rng := rand.New(rand.NewPCG(uint64(round), uint64(len(content))))
	rng.Shuffle(len(words), func(i, j int) {
		if rng.IntN(3) == 0 {
			words[i], words[j] = words[j], words[i]
		}
	})
	out := slices.Clone(content)
	for i := 0; i+40 < len(out); i += 40 + rng.IntN(200) {
		if out[i] >= 'b' && out[i] < 'y' {
			out[i] += byte(rng.IntN(3)) - 1
		}
	}
	return out
}

func files(yield func(path string, content []byte)) {
	dir := os.Getenv("SHEAF_TEST_DIR")
	if dir == "" {
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 400 {
			var b strings.Builder
			for range 12 {
				fmt.Fprintf(&b, "\n## Heading w%d of part w%d\n\n", rng.IntN(3000), rng.IntN(100))
				for range 100 {
					fmt.Fprintf(&b, "word%d ", int(20000*rng.Float64()*rng.Float64()*rng.Float64()))
				}
			}
			yield(fmt.Sprintf("folder/note%d.md", i), []byte(b.String()))
		}
		return
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || chunk.KindOf(path) != chunk.KindMarkdown {
			return err
		}
		content, err := os.ReadFile(path)
		relative, _ := filepath.Rel(dir, path)
		yield(filepath.ToSlash(relative), content)
		return err
	})
	if err != nil {
		panic(err)
	}
}

func (c *collection) add(doc sheaf.Document, content []byte) {
	batch := backend.Batch{Replace: []sheaf.ID{doc.ID}}
	for _, ch := range doc.Chunks {
		body := string(content[ch.Body.Start:ch.Body.End])
		batch.Chunks = append(batch.Chunks, backend.Chunk{ID: ch.ID, Doc: doc.ID,
			Fields: []backend.Field{{Name: sheaf.FieldTitle, Text: ch.Title}, {Name: sheaf.FieldHierarchy, Text: strings.Join(ch.Hierarchy, " ")},
				{Name: sheaf.FieldTags, Text: strings.Join(ch.Tags, " ")}, {Name: sheaf.FieldPath, Text: doc.Path}, {Name: sheaf.FieldBody, Text: body}},
			Columns: []backend.Column{{Name: sheaf.ColumnDepth, Values: []sheaf.Value{sheaf.NumberValue(float64(ch.Depth))}},
				{Name: sheaf.ColumnPath, Values: []sheaf.Value{sheaf.TextValue(doc.Path)}}, {Name: sheaf.ColumnTree, Values: []sheaf.Value{sheaf.TextValue("t")}}}})
		if len(c.words) < 1<<20 {
			c.words = append(c.words, strings.Fields(body)...)
		}
	}
	c.chunks += len(batch.Chunks)
	c.bytes += int64(len(content))
	c.batches = append(c.batches, batch)
}

func load(b *testing.B, s *embedded.Store, c *collection, workers int) {
	b.Helper()
	bulk, err := s.Bulk(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	next := make(chan backend.Batch)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for batch := range next {
				if err := bulk.Add(context.Background(), batch); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for _, batch := range c.batches {
		next <- batch
	}
	close(next)
	wait.Wait()
	if err := bulk.Commit(context.Background()); err != nil {
		b.Fatal(err)
	}
	if err := bulk.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkBuild(b *testing.B) {
	c := collect()
	var before, after runtime.MemStats
	for _, merged := range []bool{false, true} {
		b.Run(fmt.Sprintf("merged=%t", merged), func(b *testing.B) {
			b.SetBytes(c.bytes)
			b.ReportAllocs()
			for range b.N {
				runtime.GC()
				runtime.ReadMemStats(&before)
				s := open(b, embedded.Options{Dir: b.TempDir()})
				load(b, s, c, runtime.GOMAXPROCS(0))
				if merged {
					if err := s.Merge(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				runtime.ReadMemStats(&after)
				st, err := s.Stats(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				for name, n := range st.Parts {
					b.ReportMetric(float64(n)/float64(c.bytes), name+"/input")
				}
				b.ReportMetric(float64(st.Bytes)/float64(c.bytes), "index/input")
				b.ReportMetric(float64(st.Chunks), "chunks")
				b.ReportMetric(float64(after.Sys-before.Sys)/1e6, "MB-grown")
				b.StartTimer()
			}
		})
	}
}

// queries are words as they stand beside each other in the texts: usual ones, and
// some of only frequent words.
func queries(c *collection) (usual, frequent []string) {
	rng := rand.New(rand.NewPCG(5, 5))
	counts := map[string]int{}
	for _, w := range c.words {
		if len(w) > 1 {
			counts[strings.ToLower(w)]++
		}
	}
	var names []string
	for w := range counts {
		names = append(names, w)
	}
	sort.Slice(names, func(i, j int) bool {
		return counts[names[i]] > counts[names[j]] || counts[names[i]] == counts[names[j]] && names[i] < names[j]
	})
	for range 200 {
		at := rng.IntN(len(c.words) - 10)
		usual = append(usual, strings.Join(c.words[at:at+2+rng.IntN(4)], " "))
		frequent = append(frequent, names[rng.IntN(60)]+" "+names[rng.IntN(60)]+" "+names[rng.IntN(60)])
	}
	return usual, frequent
}

func BenchmarkQuery(b *testing.B) {
	c := collect()
	s := open(b, embedded.Options{Dir: b.TempDir()})
	load(b, s, c, runtime.GOMAXPROCS(0))
	if err := s.Merge(context.Background()); err != nil {
		b.Fatal(err)
	}
	usual, frequent := queries(c)
	fields := []backend.FieldWeight{{Name: sheaf.FieldTitle, Weight: 3}, {Name: sheaf.FieldBody, Weight: 1}}
	for _, kind := range []struct {
		name string
		list []string
	}{{"usual", usual}, {"frequent", frequent}} {
		request := func(i int) backend.Request {
			return backend.Request{Limit: 10, Text: &backend.TextRequest{Query: sheaf.Match{Text: kind.list[i%len(kind.list)]}, Fields: fields, K1: 1.2, B: 0.75}}
		}
		measure := func(b *testing.B, run func(i int) error) {
			var took []time.Duration
			for i := range b.N {
				start := time.Now()
				if err := run(i); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(c.chunks), "chunks")
		}
		b.Run(kind.name, func(b *testing.B) {
			measure(b, func(i int) error {
				_, err := s.Retrieve(context.Background(), request(i))
				return err
			})
		})
		// Counting visits every match: what scoring without pruning costs at least.
		b.Run(kind.name+"/every-match", func(b *testing.B) {
			measure(b, func(i int) error {
				_, err := s.Count(context.Background(), request(i))
				return err
			})
		})
	}
}

func BenchmarkCommitOneDocument(b *testing.B) {
	c := collect()
	s := open(b, embedded.Options{Dir: b.TempDir()})
	load(b, s, c, runtime.GOMAXPROCS(0))
	b.ResetTimer()
	for i := range b.N {
		if err := s.Write(context.Background(), c.batches[i%len(c.batches)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	c := collect()
	dir := b.TempDir()
	s := open(b, embedded.Options{Dir: dir})
	load(b, s, c, runtime.GOMAXPROCS(0))
	b.ResetTimer()
	for range b.N {
		r, err := embedded.Open(embedded.Options{Dir: dir, Analyzer: analyzer(b), ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
