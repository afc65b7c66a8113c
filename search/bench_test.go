package search_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/static/english"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
	words "sheaf/text/query"
)

// made returns a folder of 10,000 notes with nine sections each. That makes 100,000 chunks, because a note
// is a chunk too. Word frequencies are as uneven as in real text. Each note links to the previous note.
func made(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 30_000)
	for i := range 10_000 {
		var t strings.Builder
		fmt.Fprintf(&t, "---\ndate: 20%02d-0%d-11\nboost: %d\n---\n", 10+i%15, 1+i%9, i%7-3)
		for range 9 {
			fmt.Fprintf(&t, "# %s %s\n\nSee [[%05d]]. ", word(zipf.Uint64()), word(zipf.Uint64()), max(i-1, 0))
			for range 50 {
				t.WriteString(word(zipf.Uint64()))
				t.WriteByte(' ')
			}
			t.WriteString("\n\n")
		}
		name := filepath.Join(root, fmt.Sprintf("%02d", i/100), fmt.Sprintf("%05d.md", i))
		must.Do(b, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(t.String()), 0o644)))
	}
	return root
}

// word returns the nth word of an invented language.
func word(n uint64) string {
	const syllables = "bacedifoguhajekilomunapeqirosutavewixoyuza"
	var text []byte
	for n++; n > 0; n /= 21 {
		text = append(text, syllables[2*(n%21):2*(n%21)+2]...)
	}
	return string(text)
}

// BenchmarkShareOfStages measures the processor time that stages add to a query on 100,000 chunks. It can
// use the folder SHEAF_TEST_DIR and the queries SHEAF_TEST_QUERIES instead. The limit is a tenth. Retrieval
// is embedding, the requests of branches, and the later requests of stages and fusion. Later requests ask
// for scores of other branches' hits, adjacent words and counts of words. Each system reports:
//
//	%stages  fusion and stages, as a share of all retrieval
//	%query   the same, as a share of the rest of the query
//	%around  the rest, as a share of all retrieval: reading the query and the profile's numbers,
//	         looking up hits, showing the final ones
//	%again   later requests to the store, as a share of the first retrieval
//	%more    all three, as a share of the first retrieval: the strictest reading
//
// Run it with -cpu 1, so that parallel requests run one after another and each has its own time. The cost of
// reading the processor clock, which is ten times slower than the usual clock, is measured and subtracted.
func BenchmarkShareOfStages(b *testing.B) {
	queries := []string{word(26) + " " + word(43), word(63) + " " + word(119) + " " + word(291), word(9) + " " + word(512),
		word(8191)}
	root := os.Getenv("SHEAF_TEST_DIR")
	if root == "" {
		root = made(b)
	} else {
		queries = []string{"how do I install a module", "execution policy", "variable scope", "remote session"}
	}
	if words := os.Getenv("SHEAF_TEST_QUERIES"); words != "" {
		queries = strings.Split(words, ",")
	}
	s, chunks := benchSearcher(b, root)
	b.Cleanup(search.SetClock(read))
	perRead = costOfReading()
	for _, name := range []string{"sheaf", "sonar", "tree", "onyx-vespa", "onyx-elastic", "bench", "rrf"} {
		b.Run(name, func(b *testing.B) {
			p := load(b, name)
			for _, text := range queries { // a process reads the word lists once, not per query
				partsOf(b, s, p, text)
			}
			runs := make([][]parts, len(queries))
			for i := 0; b.Loop(); i++ {
				n := i % len(queries)
				runs[n] = append(runs[n], partsOf(b, s, p, queries[n]))
			}
			var sum parts // sums of the lower quartiles, because other work on the machine only adds time
			for _, of := range runs {
				for k := range sum {
					slices.SortFunc(of, func(a, b parts) int { return cmp.Compare(a[k], b[k]) })
					if len(of) > 0 {
						sum[k] += of[len(of)/4][k]
					}
				}
			}
			all := float64(sum[first] + sum[again])
			b.ReportMetric(100*float64(sum[stages])/all, "%stages")
			b.ReportMetric(100*float64(sum[stages])/(all+float64(sum[around])), "%query")
			b.ReportMetric(100*float64(sum[around])/all, "%around")
			b.ReportMetric(100*float64(sum[again])/float64(sum[first]), "%again")
			b.ReportMetric(100*float64(sum[stages]+sum[around]+sum[again])/float64(sum[first]), "%more")
			b.ReportMetric(float64(sum[first])/1e6/float64(len(queries)), "ms-first")
			b.ReportMetric(float64(sum[stages])/1e3/float64(len(queries)), "µs-stages")
			b.ReportMetric(float64(chunks), "chunks")
		})
	}
}

// benchSearcher returns a searcher over the files below root with the built-in model, and the number of chunks.
func benchSearcher(b *testing.B, root string) (*search.Searcher, int) {
	b.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	embedder := must.Get(english.New())
	c := must.Get(catalog.Open(vfs.Disk{}, b.TempDir(), catalog.Options{}))
	b.Cleanup(func() { c.Close() })
	st := must.Get(embedded.Open(embedded.Options{Dir: b.TempDir(), Analyzer: a, Vectors: []store.VectorField{
		{Name: store.VectorBody, Model: embedder.Model(), Dims: embedder.Dims()},
		{Name: store.VectorTitle, Model: embedder.Model(), Dims: embedder.Dims()}}}))
	b.Cleanup(func() { st.Close() })
	must.Get(ingest.Run(context.Background(),
		ingest.Options{Catalog: c, Backend: st, Trees: []catalog.Tree{{Name: "t", Root: root}}, Embedder: embedder,
			CommitBytes: 256 << 20}))
	view := c.View()
	b.Cleanup(view.Close)
	return &search.Searcher{Backend: &timedStore{Store: st}, Facts: view, Analyzer: a,
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			return embedder.Embed(ctx, model.Query, texts)
		}}, view.Chunks()
}

// timedStore records the time of each call of the store, in order.
type timedStore struct {
	*embedded.Store
	mu   sync.Mutex
	took []time.Duration
}

func (t *timedStore) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	defer t.timed()()
	return t.Store.Retrieve(ctx, req)
}

func (t *timedStore) Count(ctx context.Context, req store.Request) (int, error) {
	defer t.timed()()
	return t.Store.Count(ctx, req)
}

func (t *timedStore) Scores(ctx context.Context, reqs []store.Request, ids []sheaf.ID) ([][]float64, error) {
	defer t.timed()()
	return t.Store.Scores(ctx, reqs, ids)
}

func (t *timedStore) timed() (done func()) {
	t.mu.Lock()
	start := read()
	return func() {
		t.took = append(t.took, read().Sub(start)-perRead)
		t.mu.Unlock()
	}
}

var (
	// reads counts the calls of the function read.
	reads atomic.Int64
	// perRead is the time of one call of read. Every span between two calls includes it.
	perRead time.Duration
)

// read returns the time of the processor clock.
func read() time.Time {
	reads.Add(1)
	return processor()
}

// costOfReading returns the median time of many empty spans.
func costOfReading() time.Duration {
	spans := make([]time.Duration, 1001)
	for i := range spans {
		start := read()
		spans[i] = read().Sub(start)
	}
	slices.Sort(spans)
	return spans[len(spans)/2]
}

// parts holds the time of each part of a query.
type parts [4]time.Duration

const (
	first  = iota // embedding and the requests of branches
	again         // later requests to the store
	stages        // fusion and stages
	around        // all the rest
)

func partsOf(b *testing.B, s *search.Searcher, p *profile.Profile, text string) (of parts) {
	st := s.Backend.(*timedStore)
	st.took = st.took[:0]
	before, start := reads.Load(), read()
	r, err := s.Search(context.Background(), words.Parse(text, words.Options{Limit: 10}), p, search.Options{})
	all := read().Sub(start) - time.Duration(reads.Load()-before-1)*perRead
	must.Do(b, err)
	branches := 0
	for _, t := range r.Took {
		switch {
		case t.Step == "embed":
			of[first] = t.Duration - perRead
		case strings.HasSuffix(t.Step, "retrieve"):
			branches++
		case t.Step == "look up":
		default:
			of[stages] += t.Duration - perRead
		}
	}
	// Branches send the first requests of a query. A first phase sends no other requests between them.
	for i, d := range st.took {
		if i < branches {
			of[first] += d
		} else {
			of[again] += d
		}
	}
	// The times of stages and fusion include later requests, and one more clock reading for each.
	of[stages] -= of[again] + time.Duration(len(st.took)-branches)*perRead
	of[around] = all - of[first] - of[again] - of[stages]
	return of
}
