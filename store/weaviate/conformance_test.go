package weaviate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
	"sheaf/text/analysis"
)

// server returns the address of a Weaviate server for tests. Without a server the test is skipped.
// scripts/servers/weaviate.sh starts one; with KEY it needs a key, and SHEAF_TEST_WEAVIATE_KEY must
// contain the key.
func server(t testing.TB) string {
	url := os.Getenv("SHEAF_TEST_WEAVIATE")
	if url == "" {
		t.Skip("no Weaviate: SHEAF_TEST_WEAVIATE is not set; see scripts/servers/weaviate.sh")
	}
	return url
}

var classes atomic.Int64

// options returns the options of a new, empty store, and removes the store at the end of the test.
func options(t testing.TB) weaviate.Options {
	o := weaviate.Options{Options: storekit.Options{URL: server(t), Analyzer: storetest.Analyzer(t, "en")},
		Key: os.Getenv("SHEAF_TEST_WEAVIATE_KEY"), Class: fmt.Sprintf("SheafTest%d_%d", os.Getpid(), classes.Add(1))}
	t.Cleanup(func() {
		if err := weaviate.Drop(context.Background(), o); err != nil {
			t.Error(err)
		}
	})
	return o
}

// stores opens stores for one test.
func stores() *storetest.Stores[weaviate.Options] {
	return &storetest.Stores[weaviate.Options]{New: options,
		With: func(ctx context.Context, o weaviate.Options) (store.Backend, error) { return weaviate.Open(ctx, o) }}
}

// lacks returns a function that reports whether the server cannot compute a request.
func lacks(a *analysis.Analyzer) func(req store.Request) bool {
	return func(req store.Request) bool {
		t := req.Text
		if t == nil {
			return false
		}
		if t.Combine == store.CombineBM25F || t.K1 != store.DefaultK1 || t.B != store.DefaultB ||
			t.Statistics == store.StatisticsCandidates && (req.Filter != nil || req.Within != nil) {
			return true
		}
		odd := false
		storekit.Walk(storekit.Compile(a, t).Root, func(n storekit.Node) {
			switch n.(type) {
			case storekit.Phrase, storekit.Expand:
				odd = true
			}
		})
		return odd
	}
}

func TestConformance(t *testing.T) {
	s := stores()
	storetest.Run(t, storetest.Options{
		Open:      func(t testing.TB) store.Backend { return s.Open(t, options(t)) },
		Reopen:    s.Reopen,
		Lacks:     lacks(storetest.Analyzer(t, "en")),
		Skip:      map[string]string{"scores": "idf counts all chunks, also those without the field"},
		Torn:      true,
		Tolerance: 1e-5, // scores are float32
	})
}

// TestOpenRefuses checks that Open refuses bad options and explains what to do.
func TestOpenRefuses(t *testing.T) {
	o := options(t)
	first := stores().Open(t, o)
	must.Do(t, errors.Join(first.Write(t.Context(), storetest.Library()), first.Close()))
	refused := stores().Refusing(t, o)
	refused("another analyzer", func(o *weaviate.Options) { o.Analyzer = storetest.Analyzer(t, "de") },
		store.ErrMadeOtherwise, "made with the analyzer")
	refused("another k1", func(o *weaviate.Options) { o.K1, o.B = 0.9, 0.4 }, sheaf.ErrInvalid, "made with k1 1.2")
	refused("other dimensions", func(o *weaviate.Options) { o.Vectors = []store.VectorField{{Name: "body", Dims: 5}} },
		sheaf.ErrInvalid, "3 dimensions")
	refused("nobody listens", func(o *weaviate.Options) { o.URL = "http://127.0.0.1:1" }, sheaf.ErrUnavailable, "refused")
	refused("no address", func(o *weaviate.Options) { o.URL = "127.0.0.1:8080" }, sheaf.ErrInvalid, "http://")
	refused("no name", func(o *weaviate.Options) { o.Class = "{Get{X}}" }, sheaf.ErrInvalid, "a capital first")
	refused("nothing to read", func(o *weaviate.Options) { o.Class = "NeverMade"; o.Access = store.ReadOnly },
		sheaf.ErrNotFound, "no such class")
	refused("nothing to write to", func(o *weaviate.Options) { o.Class = "NeverMade"; o.Access = store.Existing },
		sheaf.ErrNotFound, "no such class")
}

// TestExamine checks that the doctor finds no fault in a healthy server, and the fault of a silent one.
func TestExamine(t *testing.T) {
	o := options(t)
	storetest.Healthy(t, weaviate.Examine(t.Context(), o))
	o.URL = "http://127.0.0.1:1"
	found := weaviate.Examine(t.Context(), o)
	check.That(t, len(found) == 1 && errors.Is(found[0].Err, sheaf.ErrUnavailable), "nobody listens: %v", found)
}

// behind returns a function that opens a new, empty store at the address of a proxy.
func behind(t *testing.T, o weaviate.Options) func(address string) store.Backend {
	return func(address string) store.Backend {
		o.URL = address
		return stores().Open(t, o)
	}
}

// TestBusyServerIsAskedAgain checks that the store repeats a request when the server is busy or hangs up.
func TestBusyServerIsAskedAgain(t *testing.T) {
	o := options(t)
	storetest.Patience(t, o.URL, behind(t, o), func(r *http.Request) bool {
		return !strings.HasPrefix(r.URL.Path, "/v1/schema")
	})
}

// TestAbsentServerIsUnavailable checks that calls fail as unavailable, in time, when the server stays away, or
// answers nonsense or nothing.
func TestAbsentServerIsUnavailable(t *testing.T) {
	storetest.PatienceEnds(t, server(t), func(address string) store.Backend {
		o := options(t)
		o.Timeout = 5 * time.Second
		return behind(t, o)(address)
	})
}

// TestTooLarge checks that the store splits a large batch, and names a document that is too large
// alone.
func TestTooLarge(t *testing.T) {
	o := options(t)
	storetest.TooLarge(t, o.URL, behind(t, o), func(r *http.Request) bool {
		return r.Method == "POST" && r.URL.Path == "/v1/batch/objects"
	})
}

// TestMissingRight checks that an error names the missing right.
func TestMissingRight(t *testing.T) {
	o := options(t)
	b := behind(t, o)(storetest.Between(t, o.URL, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if !strings.HasSuffix(r.URL.Path, "/graphql") {
			return false
		}
		_, _ = w.Write([]byte(`{"data":{"Get":{"X":null}},"errors":[{"message":"rbac: authorization, forbidden action: ` +
			`user 'anonymous' has insufficient permissions to read_data"}]}`))
		return true
	}))
	defer b.Close()
	check.Fails(t, must.Err(b.Retrieve(t.Context(), storetest.Words(sheaf.Match{Text: "x"}))), store.ErrForbidden,
		"let the key read and write the class "+o.Class, "Retrieve")
}

// TestAnswersWithoutHits checks that an answer without a list of hits is an error of the store. An
// empty list instead would give an empty copy.
func TestAnswersWithoutHits(t *testing.T) {
	o := options(t)
	var said atomic.Value
	said.Store("")
	b := behind(t, o)(storetest.Between(t, o.URL, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		answer := said.Load().(string)
		if answer == "" || !strings.HasPrefix(r.URL.Path, "/v1/graphql") {
			return false
		}
		_, _ = w.Write([]byte(answer))
		return true
	})).(*weaviate.Store)
	defer b.Close()
	must.Do(t, b.Write(t.Context(), store.Batch{Chunks: []store.Chunk{storetest.Chunk("t:a", "body", "steadfast", "title",
		"steadfast")}}))
	req := storetest.Words(sheaf.Match{Text: "steadfast"})
	two := req
	text := *req.Text
	text.Fields = []store.FieldWeight{{Name: "body", Weight: 1}, {Name: "title", Weight: 2}}
	two.Text = &text
	for _, answer := range []string{"{}", `{"data":null}`, `{"data":{}}`, `{"data":{"Get":null}}`,
		`{"data":{"Get":{"Other":[]}}}`} {
		said.Store(answer)
		calls := map[string]func() error{
			"search":        func() error { _, err := b.Retrieve(t.Context(), req); return err },
			"search fields": func() error { _, err := b.Retrieve(t.Context(), two); return err },
			"count":         func() error { _, err := b.Count(t.Context(), req); return err },
			"stream": func() error {
				return b.Stream(t.Context(), "", func([]store.Chunk, string) error { return nil })
			},
		}
		for what, call := range calls {
			check.Fails(t, call(), sheaf.ErrUnavailable, "weaviate", "%s: %s", answer, what)
		}
	}
}
