package opensearch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storetest"
)

// TestOpenRefuses checks that Open refuses bad options and explains what to do.
func TestOpenRefuses(t *testing.T) { each(t, testOpenRefuses) }

func testOpenRefuses(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	o := s.New(t)
	o.Vectors = []store.VectorField{{Name: "body", Model: "small", Dims: 4}}
	must.Do(t, s.Open(t, o).Close())
	german := storetest.Analyzer(t, "de")
	refused := s.Refusing(t, o)
	refused("another analyzer", func(o *opensearch.Options) { o.Analyzer = german }, store.ErrMadeOtherwise,
		"made with the analyzer")
	refused("another k1", func(o *opensearch.Options) { o.K1, o.B = 0.9, 0.4 }, sheaf.ErrInvalid, "made with k1 1.2")
	refused("other dimensions", func(o *opensearch.Options) {
		o.Vectors = []store.VectorField{{Name: "body", Model: "small", Dims: 5}}
	}, sheaf.ErrInvalid, "4 dimensions")
	refused("another model", func(o *opensearch.Options) {
		o.Vectors = []store.VectorField{{Name: "body", Model: "big", Dims: 4}}
	}, sheaf.ErrInvalid, "model small")
	refused("nobody listens", func(o *opensearch.Options) { o.URL = "http://127.0.0.1:1" }, sheaf.ErrUnavailable,
		"refused")
	refused("no address", func(o *opensearch.Options) { o.URL = "127.0.0.1:9200" }, sheaf.ErrInvalid, "http://")
	refused("several indices", func(o *opensearch.Options) { o.Index = "_all" }, sheaf.ErrInvalid, "lower-case")
	refused("nothing to read", func(o *opensearch.Options) { o.Index = "sheaf-never-made"; o.Access = store.ReadOnly },
		sheaf.ErrNotFound, "no such index")
	refused("nothing to write to", func(o *opensearch.Options) { o.Index = "sheaf-never-made"; o.Access = store.Existing },
		sheaf.ErrNotFound, "no such index")
}

// behind returns a function that opens a new, empty store at the address of a proxy.
func behind(t *testing.T, s *storetest.Stores[opensearch.Options],
	o opensearch.Options) func(address string) store.Backend {
	return func(address string) store.Backend {
		o.URL = address
		return s.Open(t, o)
	}
}

// TestBusyServerIsAskedAgain checks that the store repeats a request when the server is busy or hangs up.
func TestBusyServerIsAskedAgain(t *testing.T) { each(t, testPatience) }

func testPatience(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	o := s.New(t)
	storetest.Patience(t, o.URL, behind(t, s, o), func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "_bulk") || strings.HasSuffix(r.URL.Path, "search")
	})
}

// TestAbsentServerIsUnavailable checks that calls fail as unavailable, in time, when the server stays away, or
// answers nonsense or nothing.
func TestAbsentServerIsUnavailable(t *testing.T) { each(t, testPatienceEnds) }

func testPatienceEnds(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	at := s.New(t)
	storetest.PatienceEnds(t, at.URL, func(address string) store.Backend {
		o := s.New(t)
		must.Do(t, s.Open(t, o).Close())
		o.Timeout = 5 * time.Second
		return behind(t, s, o)(address)
	})
}

// TestTooLarge checks that the store splits a large batch, and names a document that is too large
// alone.
func TestTooLarge(t *testing.T) { each(t, testTooLarge) }

func testTooLarge(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	o := s.New(t)
	storetest.TooLarge(t, o.URL, behind(t, s, o), func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "_bulk")
	})
}

// TestPartialFailure checks that a write names rejected documents and leaves no chunk of them, and
// writes the others.
func TestPartialFailure(t *testing.T) { each(t, testPartialFailure) }

func testPartialFailure(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	o := s.New(t)
	b := s.Open(t, o)
	defer b.Close()
	// The test narrows the mapping directly: with a second type for the field, the server refuses a
	// chunk.
	put(t, o, "/"+o.Index+"/_mapping", `{"properties":{"t":{"properties":{"odd":{"type":"integer"}}}}}`)
	batch := store.Batch{Chunks: []store.Chunk{
		storetest.Chunk("t:good", "body", "x"), storetest.Chunk("t:bad", "body", "x"),
		storetest.Chunk("t:bad#odd", "odd", "words"),
		storetest.Chunk("t:"+strings.Repeat("long", 10_000), "body", "x"),
	}}
	var partial *store.PartialError
	if err := b.Write(t.Context(), batch); !errors.As(err, &partial) || len(partial.Rejected) != 2 ||
		partial.Rejected["t:bad"] == nil {
		t.Fatalf("a batch of which two documents are bad: %v", err)
	}
	r, err := b.Retrieve(t.Context(), storetest.Words(sheaf.Match{Text: "x"}))
	check.That(t, err == nil && len(r) == 1 && r[0].ID == "t:good", "found %v, %v", r, err)
}

// TestExamine checks that the doctor finds no fault in a healthy server, and the fault of a silent one.
func TestExamine(t *testing.T) { each(t, testExamine) }

func testExamine(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	o := s.New(t)
	storetest.Healthy(t, opensearch.Examine(t.Context(), o))
	o.URL = "http://127.0.0.1:1"
	found := opensearch.Examine(t.Context(), o)
	check.That(t, len(found) == 1 && errors.Is(found[0].Err, sheaf.ErrUnavailable), "nobody listens: %v", found)
}

// TestExamineBlocked checks that the doctor names each block of an index and of its dictionary. Its
// advice, followed in order, must lift them.
func TestExamineBlocked(t *testing.T) { each(t, testExamineBlocked) }

func testExamineBlocked(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	o := s.New(t)
	must.Do(t, s.Open(t, o).Close())
	set := func(index, settings string) { put(t, o, "/"+index+"/_settings", settings) }
	last := func() store.Finding {
		found := opensearch.Examine(t.Context(), o)
		return found[len(found)-1]
	}
	if f := last(); f.Err != nil {
		t.Fatalf("nothing is blocked: %v", f.Err)
	}
	set(o.Index, `{"index.blocks.write":true,"index.blocks.read_only_allow_delete":true,"index.blocks.read_only":true}`)
	set(o.Index+"-terms", `{"index.blocks.read":true,"index.blocks.write":true}`)
	advised := regexp.MustCompile(`PUT /(\S+)/_settings (\{[^}]*\})`)
	f := last()
	must.That(t, errors.Is(f.Err, sheaf.ErrUnavailable) && strings.Contains(f.Err.Error(), "make space"),
		"two indices are blocked: %v", f.Err)
	lifts := advised.FindAllStringSubmatch(f.Err.Error(), -1)
	must.Equal(t, len(lifts), 5, "five blocks, and ways to lift them: %v", f.Err)
	for _, lift := range lifts {
		set(lift[1], lift[2])
	}
	f = last()
	check.That(t, f.Err == nil, "what was advised is done: %v", f.Err)
}

// TestBlockedWrite checks that a write to a blocked index is unavailable, not rejected, and later succeeds. A server
// blocks all indices, also the dictionary, when its disk is full; an administrator may block one.
func TestBlockedWrite(t *testing.T) { each(t, testBlockedWrite) }

func testBlockedWrite(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	o := s.New(t)
	b := s.Open(t, o)
	set := func(indices, setting string) { put(t, o, "/"+indices+"/_settings", `{"index.blocks.`+setting+`}`) }
	defer b.Close()
	must.Do(t, b.Write(t.Context(), storetest.One("t:old", "coffee")))
	for _, c := range []struct {
		indices, setting string
		batch            store.Batch
	}{
		{o.Index, `read_only_allow_delete":`, storetest.One("t:a", "tea")},
		{o.Index + "," + o.Index + "-terms", `read_only_allow_delete":`, storetest.One("t:b", "tea and sugar")},
		{o.Index, `write":`, store.Batch{Replace: []sheaf.ID{"t:old"}}},
	} {
		set(c.indices, c.setting+"true")
		err := b.Write(t.Context(), c.batch)
		var partial *store.PartialError
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && !errors.As(err, &partial) && strings.Contains(err.Error(),
			"sheaf doctor says what blocks it") && !strings.Contains(err.Error(), ";;"), "%s of %s: %v", c.setting, c.indices,
			err)
		set(c.indices, c.setting+"null")
		check.NoError(t, b.Write(t.Context(), c.batch), "lifted")
	}
	check.Equal(t, storetest.Hits(t, b, "tea"), 2, "chunks")
}

// TestTooManyClauses checks that the store refuses a query with too many clauses, with advice.
// After the advised change an open store and a new one answer it.
func TestTooManyClauses(t *testing.T) { each(t, testClausesAreRaised) }

func testClausesAreRaised(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	o := s.New(t)
	if o.Dialect != opensearch.OpenSearch {
		t.Skip("takes the setting from its file alone")
	}
	b := s.Open(t, o)
	defer b.Close()
	must.Do(t, b.Write(t.Context(), storetest.One("t:a", "tea")))
	set := func(most string) {
		put(t, o, "/_cluster/settings", `{"persistent": {"indices.query.bool.max_clause_count": `+most+`}}`)
	}
	defer set("null")
	var many strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&many, "w%d ", i)
	}
	long := many.String() + "tea"
	_, err := b.Retrieve(t.Context(), storetest.Words(sheaf.Match{Text: long}))
	must.That(t, errors.Is(err, sheaf.ErrUnsupported) && strings.Contains(err.Error(),
		"raise indices.query.bool.max_clause_count"), "of 1,024 clauses: %v", err)
	set("20000")
	next := s.Open(t, o)
	defer next.Close()
	for _, b := range []store.Backend{b, next} {
		check.Equal(t, storetest.Hits(t, b, long), 1, "hits after the limit was raised")
	}
}

// TestAlias checks that every search finds one whole index while an alias moves between two.
func TestAlias(t *testing.T) { each(t, testAlias) }

func testAlias(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	var versions []*opensearch.Store
	for n := range 2 {
		b := s.Empty(t).(*opensearch.Store)
		defer b.Close()
		for i := range 3 + n {
			must.Do(t, b.Write(t.Context(), storetest.One(fmt.Sprintf("t:%d", i),
				fmt.Sprintf("shared only%c", 'a'+n))))
		}
		versions = append(versions, b)
	}
	named := s.New(t)
	named.Index += "-alias"
	must.Do(t, versions[0].Alias(t.Context(), named.Index))
	b := s.Open(t, named)
	defer b.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 10 {
			time.Sleep(300 * time.Millisecond)
			if err := versions[(n+1)%2].Alias(context.Background(), named.Index); err != nil {
				t.Error(err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		n := storetest.Hits(t, b, "shared")
		must.That(t, n == 3 || n == 4, "%d found in the midst of a switch", n)
	}
	for _, n := range []int{1, 0} { // the store follows within a second
		must.Do(t, versions[n].Alias(t.Context(), named.Index))
		for deadline := time.Now().Add(time.Minute); storetest.Hits(t, b, "shared") != 3+
			n; time.Sleep(50 * time.Millisecond) {
			must.That(t, !time.Now().After(deadline), "the alias is not followed to version %d", n)
		}
	}
	r := must.Get(b.Retrieve(t.Context(), storetest.Words(sheaf.Prefix{Text: "onlya"})))
	check.Equal(t, len(r), 3, "hits of a prefix through the alias")
	check.Is(t, versions[0].Alias(t.Context(), s.New(t).Index+"/_all"), sheaf.ErrInvalid, "a name of several indexes")
}

// TestAliasOfAnotherModel checks an open store whose alias moves to an index with other options. The store still uses
// its old index, reports the move, and leaves the other alone. The report ends when the alias moves back.
func TestAliasOfAnotherModel(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		german := storetest.Analyzer(t, "de")
		first, second := s.New(t), s.New(t)
		second.Analyzer = german
		old, other := s.Open(t, first).(*opensearch.Store), s.Open(t, second).(*opensearch.Store)
		defer old.Close()
		defer other.Close()
		must.Do(t, errors.Join(old.Write(t.Context(), storetest.One("t:old", "shared")),
			other.Write(t.Context(), storetest.One("t:new", "shared other")),
			old.Alias(t.Context(), first.Index+"-alias")))
		named := first
		named.Index += "-alias"
		b := s.Open(t, named).(*opensearch.Store)
		defer b.Close()
		must.Do(t, other.Alias(t.Context(), named.Index))
		moved := func(want bool) {
			t.Helper()
			deadline := time.Now().Add(10 * time.Second)
			for (b.Moved() != nil) != want && time.Now().Before(deadline) {
				time.Sleep(100 * time.Millisecond)
				n := storetest.Hits(t, b, "shared")
				must.That(t, n == 1 || n == 2, "%d found", n)
			}
			err := b.Moved()
			check.That(t, (err != nil) == want && (!want || strings.Contains(err.Error(), "which was made with other settings")),
				"moved: %v", err)
		}
		moved(true)
		if err := b.Write(t.Context(), storetest.One("t:later", "shared")); err != nil {
			t.Error(err)
		}
		check.Equal(t, storetest.Hits(t, b, "shared"), 2, "found in the old index")
		check.Equal(t, storetest.Hits(t, other, "shared"), 1, "found in the other index")
		must.Do(t, old.Alias(t.Context(), named.Index))
		moved(false)
	})
}

// TestExactVectorSearch checks that Elasticsearch compares vectors one by one up to its limit. A script does
// so beyond the limit, and in an index made for the graph. Without scripts the server must refuse
// clearly.
func TestExactVectorSearch(t *testing.T) {
	s := storesOf(opensearch.Elasticsearch)
	for _, c := range []struct {
		name       string
		made, asks bool // HNSW of the index, and of the store that searches
		limit      int
		script     bool
	}{
		{"compared", false, false, 10_000, false},
		{"compared, though the graph is asked for", false, true, 10_000, false},
		{"more than the server compares", false, false, 10_001, true},
		{"the graph", true, true, 10_000, false},
		{"compared, though there is a graph", true, false, 10, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := s.New(t)
			o.HNSW = c.made
			b := s.Open(t, o)
			must.Do(t, b.Write(t.Context(), storetest.Library()))
			must.Do(t, b.Close())
			o.HNSW = c.asks
			b = s.Open(t, o)
			defer b.Close()
			r, err := b.Retrieve(t.Context(), store.Request{Limit: c.limit,
				Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0, 0}}})
			missing := errors.Is(err, sheaf.ErrUnsupported) && strings.Contains(err.Error(), "lang-painless is missing")
			if c.script && missing {
				return
			}
			check.That(t, err == nil && len(r) == 1 && math.Abs(r[0].Score-0.6) <= 1e-6, "%v, %v", r, err)
		})
	}
}

// TestNearestPassageOfChunks checks that a search within few or many chunks returns each chunk's nearest passage and
// score.
func TestNearestPassageOfChunks(t *testing.T) { each(t, testWithinMany) }

func testWithinMany(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	r := rand.New(rand.NewPCG(1, 2))
	unit := func() []float32 {
		x, y, z := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		n := math.Sqrt(x*x + y*y + z*z)
		return []float32{float32(x / n), float32(y / n), float32(z / n)}
	}
	query := unit()
	var batch store.Batch
	type nearest struct {
		passage int
		score   float64
	}
	want := map[sheaf.ID]nearest{}
	for i := range 700 {
		id := sheaf.ID(fmt.Sprintf("t:d%03d", i))
		best := nearest{score: -2}
		c := storetest.Chunk(string(id), "body", "x")
		c.Vectors = []store.Vectors{{Name: "body"}}
		for at := range 1 + i%4 {
			v := unit()
			c.Vectors[0].Passages = append(c.Vectors[0].Passages, v)
			if score := float64(v[0])*float64(query[0]) + float64(v[1])*float64(query[1]) +
				float64(v[2])*float64(query[2]); score > best.score {
				best = nearest{at, score}
			}
		}
		want[id] = best
		batch.Chunks = append(batch.Chunks, c)
	}
	b := s.Open(t, s.New(t))
	defer b.Close()
	must.Do(t, b.Write(t.Context(), batch))
	for _, n := range []int{40, 600} {
		within := make([]sheaf.ID, n)
		for i := range within {
			within[i] = batch.Chunks[700-n+i].ID
		}
		got := must.Get(b.Retrieve(t.Context(), store.Request{Limit: 700, Within: within,
			Vector: &store.VectorRequest{Field: "body", Vector: query}}))
		must.Equal(t, len(got), n, "chunks found")
		for _, h := range got {
			w := want[h.ID]
			must.That(t, h.Passage == w.passage && math.Abs(h.Score-w.score) <= 1e-5 && h.ID >= within[0],
				"among %d chunks %s has %v for passage %d, want %v for %d", n, h.ID, h.Score, h.Passage, w.score, w.passage)
		}
	}
}

// TestListOnly checks listing of a store that was made with another analyzer, k1 and b.
func TestListOnly(t *testing.T) {
	each(t, func(t *testing.T, s *storetest.Stores[opensearch.Options]) {
		made := s.New(t)
		o := made
		o.Analyzer, o.K1, o.B, o.Access = storetest.Analyzer(t, "de"), 0.9, 0.4, store.ListOnly
		storetest.ListOnly(t, s, made, o)
	})
}
