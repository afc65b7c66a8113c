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
	"sheaf/model"
	"sheaf/model/static/english"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
	words "sheaf/text/query"
)

// made is a folder of 10,000 notes of nine sections, which are 100,000 chunks with
// the notes themselves; words are as unevenly spread as in real text, and each note
// links to the one before it.
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
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(t.String()), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// word is the nth word of a language that nobody speaks.
func word(n uint64) string {
	const syllables = "bacedifoguhajekilomunapeqirosutavewixoyuza"
	var text []byte
	for n++; n > 0; n /= 21 {
		text = append(text, syllables[2*(n%21):2*(n%21)+2]...)
	}
	return string(text)
}

// How much stages add to a query at 100,000 chunks, or on the folder that
// SHEAF_TEST_DIR names with the queries of SHEAF_TEST_QUERIES, embedded by the
// built-in model, in processor time. At most a tenth is promised. Retrieval is
// embedding, what the branches ask of the store, and what stages and fusion ask of it
// again: scores of what other branches found, words side by side, counts of
// words. Reported for each system:
//
//	%stages  what fusion and stages do with hits, as a share of all retrieval
//	%query   the same, as a share of the query without it: retrieval and the rest
//	%around  all the rest, as a share of all retrieval: reading the query and the
//	         profile's numbers, whether hits are known, what is shown of the final ones
//	%again   what is asked of the store again, as a share of the first retrieval
//	%more    all three, as a share of the first retrieval: the strictest reading
//
// Run it with -cpu 1: then what is asked together is answered one after another, and each has its own time. What it
// takes to read the clock of processor time, which is ten times slower than the one that searches read, is measured
// and counts for nothing.
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
			for _, text := range queries { // what a process reads once is not a query's
				partsOf(b, s, p, text)
			}
			runs := make([][]parts, len(queries))
			for i := 0; b.Loop(); i++ {
				n := i % len(queries)
				runs[n] = append(runs[n], partsOf(b, s, p, queries[n]))
			}
			var sum parts // of the lower quartiles: other work on the machine makes runs longer, never shorter
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

// benchSearcher is a searcher over the files below root with the built-in model,
// and how many chunks they have.
func benchSearcher(b *testing.B, root string) (*search.Searcher, int) {
	b.Helper()
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		b.Fatal(err)
	}
	embedder, err := english.New()
	if err != nil {
		b.Fatal(err)
	}
	c, err := catalog.Open(vfs.Disk{}, b.TempDir(), catalog.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	st, err := embedded.Open(embedded.Options{Dir: b.TempDir(), Analyzer: a, Vectors: []store.VectorField{
		{Name: store.VectorBody, Model: embedder.Model(), Dims: embedder.Dims()},
		{Name: store.VectorTitle, Model: embedder.Model(), Dims: embedder.Dims()}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	if _, err := ingest.Run(context.Background(),
		ingest.Options{Catalog: c, Backend: st, Trees: []catalog.Tree{{Name: "t", Root: root}}, Embedder: embedder,
			CommitBytes: 256 << 20}); err != nil {
		b.Fatal(err)
	}
	view := c.View()
	b.Cleanup(view.Close)
	return &search.Searcher{Backend: &timedStore{Store: st}, Facts: view, Analyzer: a,
		Embed: func(ctx context.Context, text string) ([]float32, error) {
			v, err := embedder.Embed(ctx, model.Query, []string{text})
			return v[0], err
		}}, view.Chunks()
}

// timedStore notes what each call of the store takes, in their order.
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
	// reads counts how often read was asked.
	reads atomic.Int64
	// perRead is what one takes, which lies in every span of time between two.
	perRead time.Duration
)

// read is the time on the processor's clock.
func read() time.Time {
	reads.Add(1)
	return processor()
}

// costOfReading is the median of many spans with nothing in them.
func costOfReading() time.Duration {
	spans := make([]time.Duration, 1001)
	for i := range spans {
		start := read()
		spans[i] = read().Sub(start)
	}
	slices.Sort(spans)
	return spans[len(spans)/2]
}

// parts are where the time of a query went.
type parts [4]time.Duration

const (
	first  = iota // embedding and what branches retrieve
	again         // what the store is asked for beyond that
	stages        // fusion and stages
	around        // all the rest
)

func partsOf(b *testing.B, s *search.Searcher, p *profile.Profile, text string) (of parts) {
	st := s.Backend.(*timedStore)
	st.took = st.took[:0]
	before, start := reads.Load(), read()
	r, err := s.Search(context.Background(), words.Parse(text, words.Options{Limit: 10}), p, search.Options{})
	all := read().Sub(start) - time.Duration(reads.Load()-before-1)*perRead
	if err != nil {
		b.Fatal(err)
	}
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
	// Branches retrieve before anything else asks the store; what a first phase does
	// between them asks for nothing.
	for i, d := range st.took {
		if i < branches {
			of[first] += d
		} else {
			of[again] += d
		}
	}
	// It is stages and fusion that ask, and each time the clock is read once more in their time.
	of[stages] -= of[again] + time.Duration(len(st.took)-branches)*perRead
	of[around] = all - of[first] - of[again] - of[stages]
	return of
}
