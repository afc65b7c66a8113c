package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/store/memory"
	"sheaf/store/opensearch"
	"sheaf/store/postgres"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
	"sheaf/store/transfer"
	"sheaf/store/weaviate"
)

// servers returns a new, empty store on each available server.
func servers(t testing.TB) map[string]store.Backend {
	ctx := context.Background()
	name := fmt.Sprintf("transfer_%d_%d", os.Getpid(), rand.Uint32())
	a := storetest.Analyzer(t, "en")
	out := map[string]store.Backend{}
	add := func(kind string, b store.Backend, err error, drop func() error) {
		must.Do(t, err)
		out[kind] = b
		t.Cleanup(func() { _ = b.Close(); _ = drop() })
	}
	if url := os.Getenv("SHEAF_TEST_POSTGRES"); url != "" {
		b, err := postgres.Open(ctx, postgres.Options{URL: url, Schema: name, Analyzer: a})
		add("postgres", b, err, func() error { return postgres.Drop(ctx, url, name) })
	}
	for _, d := range []opensearch.Dialect{opensearch.OpenSearch, opensearch.Elasticsearch} {
		if url := os.Getenv("SHEAF_TEST_" + strings.ToUpper(d.String())); url != "" {
			o := opensearch.Options{Options: storekit.Options{URL: url, Analyzer: a}, Dialect: d, Index: name}
			b, err := opensearch.Open(ctx, o)
			add(d.String(), b, err, func() error { return opensearch.Drop(ctx, o) })
		}
	}
	if url := os.Getenv("SHEAF_TEST_WEAVIATE"); url != "" {
		o := weaviate.Options{Options: storekit.Options{URL: url, Analyzer: a}, Class: "T" + name}
		b, err := weaviate.Open(ctx, o)
		add("weaviate", b, err, func() error { return weaviate.Drop(ctx, o) })
	}
	return out
}

// chunk returns the i-th chunk. Every seventh has text and values that are hard to store.
func chunk(r *rand.Rand, i int) store.Chunk {
	words := strings.Fields("apple pie token refresh running index engine search graph vault note link")
	var text []string
	for range 5 + r.IntN(40) {
		text = append(text, words[r.IntN(len(words))])
	}
	c := store.Chunk{ID: sheaf.ID(fmt.Sprintf("t:%07d#a", i)), Doc: sheaf.ID(fmt.Sprintf("t:%07d", i)),
		Fields: []store.Field{{Name: sheaf.FieldBody, Text: strings.Join(text, " ")},
			{Name: sheaf.FieldTitle, Text: "Größe " + words[i%len(words)]}},
		Columns: []store.Column{{Name: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(i) - 50.5)}},
			{Name: "tag", Values: []sheaf.Value{sheaf.TextValue("x"), sheaf.TextValue("ü/y")}}},
		Vectors: []store.Vectors{{Name: store.VectorBody, Passages: [][]float32{unit(r), unit(r)}},
			{Name: store.VectorTitle, Passages: [][]float32{unit(r)}}}}
	if i%7 == 0 {
		c.ID += "\xff\x00'\"\\"
		c.Fields[0].Text += " \"quoted\" \x00 \xfe {Get{X}} \U0010ff41"
		c.Columns[0].Values = []sheaf.Value{sheaf.BoolValue(i%2 == 0), sheaf.DateValue(time.UnixMilli(1_700_000_000_000))}
		c.Vectors = c.Vectors[:1]
	}
	return c
}

// unit returns a random direction. As with a model's vectors, equal similarities are rare.
func unit(r *rand.Rand) []float32 {
	out := make([]float32, 4)
	square := 0.0
	for i := range out {
		out[i] = float32(r.NormFloat64())
		square += float64(out[i]) * float64(out[i])
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(square))
	}
	return out
}

// TestCopy checks that each store returns the written chunks unchanged, read in parts, and that
// Verify finds a missing chunk.
func TestCopy(t *testing.T) {
	stores := servers(t)
	if len(stores) == 0 {
		t.Skip("no servers: SHEAF_TEST_POSTGRES, SHEAF_TEST_OPENSEARCH, SHEAF_TEST_ELASTICSEARCH and SHEAF_TEST_WEAVIATE " +
			"are not set; see scripts/servers")
	}
	r := rand.New(rand.NewPCG(1, 1))
	var chunks []store.Chunk
	for i := range 700 {
		chunks = append(chunks, chunk(r, i))
	}
	for name, from := range stores {
		t.Run(name, func(t *testing.T) {
			must.Do(t, from.Write(t.Context(), store.Batch{Chunks: chunks}))
			back := stream(t, from.(store.Streamer), len(chunks))
			must.Equal(t, cmp.Diff(normal(chunks), normal(back)), "", "chunks (-written +read)")
			to := memory.New(storetest.Analyzer(t, "en"))
			if n, err := transfer.Copy(t.Context(), from.(store.Streamer), to, transfer.Options{}); err != nil ||
				n != len(chunks) {
				t.Fatalf("%d copied, %v", n, err)
			}
			n, err := transfer.Verify(t.Context(), from.(store.Streamer), to, 100)
			must.That(t, err == nil && n >= 100, "%d compared, %v", n, err)
			must.Do(t, to.Write(t.Context(), store.Batch{Replace: []sheaf.ID{chunks[0].Doc}}))
			check.Is(t, must.Err(transfer.Verify(t.Context(), from.(store.Streamer), to, 700)), sheaf.ErrCorrupt,
				"a missing chunk")
		})
	}
}

// stream reads everything in parts, each from the cursor of the last.
func stream(t *testing.T, from store.Streamer, most int) []store.Chunk {
	t.Helper()
	var out []store.Chunk
	stop := errors.New("interrupted")
	for cursor, done := "", false; !done; {
		done = true
		err := from.Stream(t.Context(), cursor, func(chunks []store.Chunk, next string) error {
			out, cursor, done = append(out, chunks...), next, false
			return stop
		})
		must.That(t, (err == nil || errors.Is(err, stop)) && len(out) <= most, "%d chunks, %v", len(out), err)
	}
	return out
}

// normal sorts chunks, and their fields and values, which have no order.
func normal(chunks []store.Chunk) []store.Chunk {
	out := slices.Clone(chunks)
	slices.SortFunc(out, func(a, b store.Chunk) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for i := range out {
		out[i].Fields = slices.Clone(out[i].Fields)
		slices.SortFunc(out[i].Fields, func(a, b store.Field) int { return strings.Compare(a.Name, b.Name) })
		out[i].Columns = slices.Clone(out[i].Columns)
		for j := range out[i].Columns {
			values := slices.Clone(out[i].Columns[j].Values)
			slices.SortFunc(values, sheaf.Value.Compare)
			out[i].Columns[j].Values = values
		}
	}
	return out
}

// generated streams chunks and keeps none in memory.
type generated int

func (n generated) Stream(_ context.Context, _ string, yield func([]store.Chunk, string) error) error {
	r := rand.New(rand.NewPCG(1, 1))
	for i := 0; i < int(n); i += 500 {
		var chunks []store.Chunk
		for j := i; j < min(i+500, int(n)); j++ {
			chunks = append(chunks, chunk(r, j))
		}
		if err := yield(chunks, fmt.Sprint(i)); err != nil {
			return err
		}
	}
	return nil
}

// peak returns the largest memory of this process, if the system tells it.
func peak() string {
	status, _ := os.ReadFile("/proc/self/status") // exists on Linux
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ = strings.Cut(line, "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "not told"
	}
	return line
}

// TestMemory checks that the memory of a copy does not grow with the number of chunks.
func TestMemory(t *testing.T) {
	if os.Getenv("SHEAF_TEST_LONG") == "" {
		t.Skip("only with SHEAF_TEST_LONG: 100,000 chunks, or SHEAF_TEST_CHUNKS, are copied twice")
	}
	all := 100_000
	if n := os.Getenv("SHEAF_TEST_CHUNKS"); n != "" {
		var err error
		if all, err = strconv.Atoi(n); err != nil || all < 50_000 {
			t.Fatalf("SHEAF_TEST_CHUNKS is %q: must be a number, 50000 at least", n)
		}
	}
	st, ok := servers(t)["postgres"]
	if !ok {
		t.Skip("no PostgreSQL: SHEAF_TEST_POSTGRES is not set; see scripts/servers/postgres.sh")
	}
	engine := must.Get(embedded.Open(embedded.Options{Dir: t.TempDir(), Analyzer: storetest.Analyzer(t, "en"),
		MemoryBytes: 32 << 20,
		Vectors:     []store.VectorField{{Name: store.VectorBody, Dims: 4}, {Name: store.VectorTitle, Dims: 4}}}))
	defer engine.Close()
	for what, step := range []func(transfer.Options) (int, error){
		func(o transfer.Options) (int, error) { return transfer.Copy(t.Context(), generated(all), st, o) },
		func(o transfer.Options) (int, error) {
			return transfer.Copy(t.Context(), st.(store.Streamer), engine, o)
		},
	} {
		var use []uint64
		n := must.Get(step(transfer.Options{Progress: func(n int, _ string) error {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			t.Logf("copy %d: %d chunks, %.1f MB in use", what+1, n, float64(m.HeapAlloc)/1e6)
			use = append(use, m.HeapAlloc)
			return nil
		}}))
		must.Equal(t, n, all, "copied")
		// Merges of the engine use more memory for a while, so the test compares medians.
		half := len(use) / 2
		early, late := slices.Sorted(slices.Values(use[:half]))[half/2], slices.Sorted(slices.Values(use[half:]))[half/2]
		if late > early+8<<20 || slices.Max(use) > 256<<20 {
			t.Errorf("copy %d: memory grew from %d to %d bytes, to %d while merging", what+1, early, late, slices.Max(use))
		}
		t.Logf("copy %d of %d chunks: %.1f MB in use in the first half, %.1f MB in the second (medians), %.1f MB at most; "+
			"the process so far: %s", what+1, all,
			float64(early)/1e6, float64(late)/1e6, float64(slices.Max(use))/1e6, peak())
	}
}
