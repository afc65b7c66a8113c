package vespa

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// recorded is a server that answers in Vespa's format and records requests. It does not match or
// rank; found gives the answers to searches.
type recorded struct {
	mu       sync.Mutex
	docs     map[string]string // by path
	requests []string          // method and path
	searches []object
	under    int // requests without an answer yet
	most     int // the largest value of under
	// fault answers instead of the server when it returns true.
	fault func(w http.ResponseWriter, r *http.Request, body []byte) bool
	// found returns the answer to a search.
	found func(body object) string
}

func (s *recorded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	s.under++
	s.most = max(s.most, s.under)
	fault, found := s.fault, s.found
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.under--
	}()
	if fault != nil && fault(w, r, body) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(r.URL.Path, "/search/") {
		var asked object
		if json.Unmarshal(body, &asked) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.searches = append(s.searches, asked)
		s.mu.Unlock()
		answer := result(0)
		if found != nil {
			answer = found(asked)
		}
		fmt.Fprint(w, answer)
		return
	}
	s.document(w, r, string(body))
}

func (s *recorded) document(w http.ResponseWriter, r *http.Request, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, ok := s.docs[r.URL.Path]
	switch {
	case r.Method == "GET" && !ok:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"pathId":%q,"id":"id:sheaf:x::y"}`, r.URL.Path)
	case r.Method == "GET":
		fmt.Fprintf(w, `{"pathId":%q,"id":"id:sheaf:x::y","fields":%s`, r.URL.Path, strings.TrimPrefix(have, `{"fields":`))
	case r.Method == "PUT" && !ok:
		w.WriteHeader(http.StatusPreconditionFailed)
		fmt.Fprintf(w, `{"pathId":%q,"message":"[UNKNOWN(251013) @ tcp/host:19112/default]: `+
			`ReturnCode(TEST_AND_SET_CONDITION_FAILED, Document does not exist)"}`, r.URL.Path)
	default:
		if r.Method == "DELETE" {
			delete(s.docs, r.URL.Path)
		} else if r.Method == "POST" {
			s.docs[r.URL.Path] = body
		}
		fmt.Fprintf(w, `{"pathId":%q,"id":"id:sheaf:x::y"}`, r.URL.Path)
	}
}

// result returns the answer to a search with some of total matching documents.
func result(total int, hits ...string) string {
	return fmt.Sprintf(
		`{"root":{"id":"toplevel","relevance":1.0,"fields":{"totalCount":%d},"coverage":{"coverage":100,"documents":9,`+
			`"full":true,"nodes":1,"results":1,"resultsFull":1},"children":[%s]}}`, total, strings.Join(hits, ","))
}

func hitOf(id string, relevance any, features string) string {
	return fmt.Sprintf(
		`{"id":"index:chunks/0/a","relevance":%v,"source":"chunks","fields":{"id":%q,"matchfeatures":{%s}}}`, relevance, id,
		features)
}

// serving starts a server and opens a store on it.
func serving(t testing.TB, change ...func(*Options)) (*recorded, *Store) {
	t.Helper()
	server := &recorded{docs: map[string]string{}}
	o := at(t, server)
	for _, f := range change {
		f(&o)
	}
	s := must.Get(Open(t.Context(), o))
	server.mu.Lock()
	server.requests, server.searches = nil, nil
	server.mu.Unlock()
	t.Cleanup(func() { _ = s.Close() })
	return server, s
}

// at returns the options of a store on a server that runs until the test ends.
func at(t testing.TB, handler http.Handler) Options {
	front := httptest.NewServer(handler)
	t.Cleanup(front.Close)
	o := testOptions(t)
	o.URL = front.URL
	return o
}

// failing returns a fault for paths that contain path, a number of times.
func failing(path string, times, status int, header, message string) func(http.ResponseWriter, *http.Request,
	[]byte) bool {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(r.URL.Path, path) || times <= 0 {
			return false
		}
		times--
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"pathId":%q,"message":%q}`, r.URL.Path, message)
		return true
	}
}

func TestOpen(t *testing.T) {
	server, s := serving(t)
	about := server.docs[s.aboutPath()]
	check.That(t, strings.Contains(about, `\"sheaf\":1`) && strings.Contains(about, `\"dims\":3`),
		"a new schema is described as %s", about)
	again, err := Open(t.Context(), s.o)
	must.That(t, err == nil, "open again: %v", err)
	must.Do(t, again.Close())
	check.Is(t, again.Close(), sheaf.ErrUnavailable, "close twice")
	check.Is(t, must.Err(again.Retrieve(t.Context(), storetest.Words(sheaf.Match{Text: "tea"}))), sheaf.ErrUnavailable,
		"search after close")
	german := storetest.Analyzer(t, "de")
	fields := func(v ...store.VectorField) func(*Options) {
		return func(o *Options) { o.Vectors, o.Ranking = v, nil }
	}
	for what, c := range map[string]struct {
		change func(*Options)
		want   error
		says   string
	}{
		"another analyzer": {func(o *Options) { o.Analyzer = german }, sheaf.ErrInvalid, "made with the analyzer"},
		"another k1":       {func(o *Options) { o.K1, o.B = 0.9, 0.4 }, sheaf.ErrInvalid, "made with k1 1.2"},
		"other dimensions": {fields(store.VectorField{Name: "body", Model: "m", Dims: 4}), sheaf.ErrInvalid,
			"has 3 dimensions"},
		"another model": {fields(store.VectorField{Name: "body", Model: "n", Dims: 3}), sheaf.ErrInvalid,
			"made with the model m"},
		"another field": {fields(store.VectorField{Name: "face", Model: "m", Dims: 3}), sheaf.ErrInvalid,
			`no vector field "face"`},
		"a field twice": {fields(store.VectorField{Name: "body", Dims: 3}, store.VectorField{Name: "body", Dims: 3}),
			sheaf.ErrInvalid, "twice"},
		"no dimensions":    {fields(store.VectorField{Name: "body"}), sheaf.ErrInvalid, "must be 1.."},
		"nobody listens":   {func(o *Options) { o.URL = "http://127.0.0.1:1" }, sheaf.ErrUnavailable, "refused"},
		"no address":       {func(o *Options) { o.URL = "127.0.0.1:8080" }, sheaf.ErrInvalid, "http://"},
		"no configuration": {func(o *Options) { o.Config = "ftp://x" }, sheaf.ErrInvalid, "http://"},
		"no name":          {func(o *Options) { o.Schema = "notes where true" }, sheaf.ErrInvalid, "lower-case letters"},
		"no analyzer":      {func(o *Options) { o.Analyzer = nil }, sheaf.ErrInvalid, "no analyzer"},
		"too many feeds":   {func(o *Options) { o.Feeds = 1001 }, sheaf.ErrInvalid, "1..1000"},
		"nothing was put": {func(o *Options) { o.Schema = "other"; o.Access = store.ReadOnly }, sheaf.ErrNotFound,
			"nothing was written"},
		"nothing to write to": {func(o *Options) { o.Schema = "other"; o.Access = store.Existing }, sheaf.ErrNotFound,
			"nothing was written"},
		"odd k1":            {func(o *Options) { o.K1 = math.NaN() }, sheaf.ErrInvalid, "k1 NaN"},
		"an earlier record": {func(o *Options) { o.Schema = "old" }, sheaf.ErrUnsupported, "version 99"},
		"another's record":  {func(o *Options) { o.Schema = "foreign" }, sheaf.ErrInvalid, "did not fill the schema"},
	} {
		server.docs["/document/v1/sheaf/old_about/docid/about"] = `{"fields":{"about":"{\"sheaf\":99}"}}`
		server.docs["/document/v1/sheaf/foreign_about/docid/about"] = `{"fields":{"about":"hello"}}`
		bad := s.o
		c.change(&bad)
		check.Fails(t, must.Err(Open(t.Context(), bad)), c.want, c.says, "%s", what)
	}
}

// kept returns the stored paths, without the store's own record.
func (s *recorded) kept() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.docs)), func(p string) bool {
		return strings.Contains(p, "_about/")
	})
}

// atOnce returns the largest number of parallel requests.
func (s *recorded) atOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// olds makes each search for old chunks return ids.
func (s *recorded) olds(ids ...string) {
	hits := make([]string, len(ids))
	for i, id := range ids {
		hits[i] = fmt.Sprintf(`{"id":"index:chunks/0/%d","relevance":0.0,"fields":{"chunk":%q}}`, i, storekit.Hash(id))
	}
	s.found = func(body object) string {
		if body["presentation.summary"] != "key" {
			return result(0)
		}
		return result(len(hits), hits...)
	}
}

func TestWrite(t *testing.T) {
	server, s := serving(t, func(o *Options) { o.Token = "secret" })
	server.olds("n:a.md#gone")
	server.docs[s.path("n:a.md#gone")] = "{}"
	server.fault = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		check.Equal(t, r.Header.Get("Authorization"), "Bearer secret", "token of %s %s", r.Method, r.URL.Path)
		return false
	}
	a, b := storetest.Chunk("n:a.md#x", "body", "tea"), storetest.Chunk("n:a.md#y", "body", "leaf")
	must.Do(t, s.Write(t.Context(), store.Batch{Replace: []sheaf.ID{"n:a.md"}, Chunks: []store.Chunk{a, b}}))
	want := []string{s.path("n:a.md#x"), s.path("n:a.md#y")}
	slices.Sort(want)
	check.List(t, server.kept(), want, "kept")
	check.That(t, len(server.searches) == 1 && strings.Contains(fmt.Sprint(server.searches[0]["yql"]),
		"doc in (@p0) and !(write contains @p1)") && server.searches[0]["p0"] == storekit.Hash("n:a.md"),
		"old chunks are looked for by %v", server.searches)
	server.olds("n:a.md#x", "n:a.md#y")
	if err := s.Write(t.Context(), store.Batch{Replace: []sheaf.ID{"n:a.md"}}); err != nil || len(server.kept()) != 0 {
		t.Errorf("%v; kept %q", err, server.kept())
	}
	before := len(server.requests)
	if err := s.Write(t.Context(), store.Batch{}); err != nil || len(server.requests) != before {
		t.Errorf("an empty batch: %v, %d requests", err, len(server.requests)-before)
	}
	for what, bad := range map[string]store.Chunk{
		"no field": storetest.Chunk("n:a#x", "blurb", "x"),
		"no vectors": {ID: "n:a#x", Doc: "n:a",
			Vectors: []store.Vectors{{Name: "face", Passages: [][]float32{{1, 0, 0}}}}},
		"dimensions":    {ID: "n:a#x", Doc: "n:a", Vectors: []store.Vectors{{Name: "body", Passages: [][]float32{{1, 0}}}}},
		"without an ID": {Doc: "n:a"},
		"not of unit 1": {ID: "n:a#x", Doc: "n:a",
			Vectors: []store.Vectors{{Name: "body", Passages: [][]float32{{1, 1, 1}}}}},
		"field is twice": storetest.Chunk("n:a#x", "body", "x", "body", "y"),
	} {
		err := s.Write(t.Context(), store.Batch{Chunks: []store.Chunk{bad}})
		check.That(t, errors.Is(err, sheaf.ErrInvalid) && len(server.requests) == before, "%s: %v, %d requests", what, err,
			len(server.requests)-before)
	}
	o := s.o
	o.Access = store.ReadOnly
	err := newStore(o).Write(t.Context(), store.Batch{Replace: []sheaf.ID{"n:a.md"}})
	check.Is(t, err, sheaf.ErrUnsupported, "read only")
}

// TestWritePartial checks that a write names a refused document and leaves no chunk of it, and
// writes the others.
func TestWritePartial(t *testing.T) {
	server, s := serving(t)
	server.fault = failing(s.path("n:bad#y"), 1, 400, "", "Could not parse field 'title'")
	server.olds("n:bad#x")
	err := s.Write(t.Context(), store.Batch{Chunks: []store.Chunk{storetest.Chunk("n:bad#x", "body", "a"),
		storetest.Chunk("n:bad#y", "body", "b"), storetest.Chunk("n:good#x", "body", "c")}})
	var partial *store.PartialError
	must.That(t, errors.As(err, &partial) && len(partial.Rejected) == 1 &&
		strings.Contains(fmt.Sprint(partial.Rejected["n:bad"]), "Could not parse"), "%v", err)
	got := server.kept()
	check.That(t, len(got) == 1 && got[0] == s.path("n:good#x"), "kept %q", got)
}

func TestWriteColumns(t *testing.T) {
	server, s := serving(t)
	server.docs[s.path("n:a#x")] = "{}"
	columns := []store.Column{{Name: sheaf.ColumnAccess, Values: []sheaf.Value{text("group:x")}}}
	must.Do(t, s.WriteColumns(t.Context(), []store.ColumnChange{{Chunk: "n:a#x", Columns: columns}}))
	check.That(t, len(server.requests) == 1 &&
		strings.HasPrefix(server.requests[0], "PUT "+s.path("n:a#x")+"?create=false&condition=notes.chunk"),
		"sent %q", server.requests)
	check.Is(t, s.WriteColumns(t.Context(), []store.ColumnChange{{Chunk: "n:none#x", Columns: columns}}),
		sheaf.ErrNotFound, "columns of nothing")
	check.Is(t, s.WriteColumns(t.Context(), []store.ColumnChange{{}}), sheaf.ErrInvalid, "columns without an ID")
}

func TestRetrieve(t *testing.T) {
	server, s := serving(t)
	server.found = func(object) string {
		return result(3, hitOf("n:b.md", 4.4, `"bm25(title)":1.1,"bm25(content)":2.2`), hitOf("n:c%20d.md%23%C3%A4", 2.2, ``),
			hitOf("n:a.md", 4.4, ``))
	}
	req := storetest.Words(sheaf.Match{Text: "tea"})
	got := must.Get(s.Retrieve(t.Context(), req))
	// The score is 4.4 / (k1 + 1). Equal scores are ordered by ID.
	check.Equal(t, fmt.Sprint(got), fmt.Sprint(sheaf.Ranking{{ID: "n:a.md", Score: 2}, {ID: "n:b.md", Score: 2},
		{ID: "n:c d.md#ä", Score: 1}}), "found %v", got)
	parts, err := s.Explain(t.Context(), req, []sheaf.ID{"n:b.md", "n:none"})
	if err != nil || parts[1] != nil || parts[0] == nil || math.Abs(parts[0].Value-2) > 1e-12 ||
		math.Abs(parts[0].Recombine()-2) > 1e-12 || len(parts[0].Parts) != 2 {
		t.Errorf("explained as %+v, %v", parts, err)
	}
	closeness := 1 / (1 + math.Acos(0.6))
	near := store.Request{Limit: 2, Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0, 0}}}
	server.found = func(object) string {
		return result(2, hitOf("n:a", closeness, `"closest(embeddings)":{"type":"tensor<float>(t{})","cells":{"12":1.0}}`),
			hitOf("n:b", closeness/2,
				`"closest(embeddings)":{"type":"tensor<float>(t{})","cells":[{"address":{"t":"3"},"value":1.0}]}`))
	}
	got, err = s.Retrieve(t.Context(), near)
	if err != nil || len(got) != 2 || math.Abs(got[0].Score-0.6) > 1e-9 || got[0].Passage != 12 || got[1].Passage != 3 ||
		got[1].Score >= got[0].Score {
		t.Errorf("near: %v, %v", got, err)
	}
	if parts, err := s.Explain(t.Context(), near, []sheaf.ID{"n:a"}); err != nil || parts[0] == nil ||
		parts[0].Value != got[0].Score {
		t.Errorf("near is explained as %+v, %v", parts, err)
	}
	server.found = func(body object) string {
		if strings.Contains(fmt.Sprint(body["yql"]), "sum(passages)") {
			return `{"root":{"fields":{"totalCount":7},"coverage":{"coverage":100},` +
				`"children":[{"id":"group:root:0","relevance":1.0,"continuation":{"this":""},"fields":{"sum(passages)":21}}]}}`
		}
		return result(5)
	}
	stats, err := s.Stats(t.Context())
	check.That(t, err == nil && stats.Chunks == 7 && stats.Vectors == 21, "holds %+v, %v", stats, err)
	for _, req := range []store.Request{req, near} {
		n, err := s.Count(t.Context(), req)
		check.That(t, err == nil && n == 5, "counts %d, %v", n, err)
	}
}

// TestRetrieveTies checks that Retrieve asks for more hits until no equal hits can be missing.
func TestRetrieveTies(t *testing.T) {
	server, s := serving(t)
	server.found = func(body object) string {
		var hits []string
		for i := range min(int(body["hits"].(float64)), 300) {
			score := 1
			if i == 0 {
				score = 2
			}
			hits = append(hits, hitOf(fmt.Sprintf("n:%03d", 299-i), score, ""))
		}
		return result(300, hits...)
	}
	req := storetest.Words(sheaf.Match{Text: "tea"})
	req.Limit = 3
	got, err := s.Retrieve(t.Context(), req)
	check.That(t, err == nil && len(got) == 3 && got[0].ID == "n:299" && got[1].ID == "n:000" && got[2].ID == "n:001",
		"found %v, %v", got, err)
	check.Equal(t, len(server.searches), 3, "searches")
}

// TestUnsupported checks that the store refuses what Vespa cannot do, before it sends anything.
func TestUnsupported(t *testing.T) {
	server, s := serving(t)
	words := func(q sheaf.TextQuery, change func(*store.Request)) store.Request {
		r := storetest.Words(q)
		if change != nil {
			change(&r)
		}
		return r
	}
	tea := sheaf.Match{Text: "tea"}
	for what, c := range map[string]struct {
		req  store.Request
		says string
	}{
		"phrase":    {words(sheaf.Phrase{Text: "green tea"}, nil), "phrases"},
		"prefix":    {words(sheaf.Prefix{Text: "te"}, nil), "prefixes"},
		"fuzzy":     {words(sheaf.Fuzzy{Text: "tea", Distance: 1}, nil), "fuzzy"},
		"character": {words(sheaf.Match{Text: "猫"}, nil), "single characters"},
		"nested": {words(sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Bool{Must: []sheaf.TextQuery{tea,
			sheaf.Match{Text: "leaf"}}}}}, nil), "nest"},
		"odd weights": {words(sheaf.Bool{Should: []sheaf.TextQuery{tea,
			sheaf.Boost{Query: sheaf.Match{Text: "leaf"}, Factor: 0.123456}}}, nil), "repeating"},
		"bm25f": {words(tea, func(r *store.Request) { r.Text.Combine = store.CombineBM25F }), "bm25f"},
		"k1":    {words(tea, func(r *store.Request) { r.Text.K1 = 0.9 }), "made with 1.2"},
		"candidates": {words(tea, func(r *store.Request) {
			r.Text.Statistics, r.Filter = store.StatisticsCandidates, sheaf.Exists{Column: "tag"}
		}), "candidates"},
		"range of texts": {words(tea, func(r *store.Request) { r.Filter = sheaf.Range{Column: "tag", Min: text("a")} }),
			"range of texts"},
	} {
		_, err := s.Retrieve(t.Context(), c.req)
		check.That(t, errors.Is(err, sheaf.ErrUnsupported) && strings.Contains(err.Error(), c.says) &&
			strings.Contains(err.Error(), "vespa notes"), "%s: %v, want unsupported that says %q", what, err, c.says)
	}
	for what, req := range map[string]store.Request{
		"nothing":    {Limit: 1},
		"dimensions": {Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: []float32{1}}},
		"no field":   words(sheaf.Match{Text: "tea", Field: "blurb"}, nil),
	} {
		check.Is(t, must.Err(s.Retrieve(t.Context(), req)), sheaf.ErrInvalid, "%s", what)
	}
	// These requests find nothing, and need no server.
	for what, req := range map[string]store.Request{
		"no words":      words(sheaf.Match{Text: "?!"}, nil),
		"within none":   words(tea, func(r *store.Request) { r.Within = []sheaf.ID{} }),
		"in none":       words(tea, func(r *store.Request) { r.Filter = sheaf.In{Column: "a"} }),
		"other vectors": {Limit: 1, Vector: &store.VectorRequest{Field: "face", Vector: []float32{1}}},
	} {
		got, err := s.Retrieve(t.Context(), req)
		check.That(t, err == nil && len(got) == 0, "%s: %v, %v", what, got, err)
	}
	check.Equal(t, len(server.requests), 0, "sent %q", server.requests)
}

// TestDeploy checks that Open deploys the package only to a configuration server without an
// application.
func TestDeploy(t *testing.T) {
	server := &recorded{docs: map[string]string{}}
	o := at(t, server)
	var mu sync.Mutex
	deployed, asked := 0, 0
	var names []string
	config := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == "GET" && r.URL.Path == application && deployed == 0:
			w.WriteHeader(404)
			fmt.Fprint(w, `{"error-code":"NOT_FOUND","message":"No such application id: 'default.default'"}`)
		case r.Method == "GET" && r.URL.Path == application:
			fmt.Fprint(w, `{"generation":2,"applicationPackageFileReference":"x"}`)
		case r.Method == "POST" && r.URL.Path == activate && r.Header.Get("Content-Type") == "application/zip":
			deployed++
			data, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				w.WriteHeader(400)
				return
			}
			for _, f := range files.File {
				names = append(names, f.Name)
			}
			fmt.Fprint(w, `{"session-id":"2","message":"Session 2 for tenant 'default' prepared and activated."}`)
		default:
			w.WriteHeader(405)
		}
	}))
	defer config.Close()
	// The container needs some time to load the schema.
	server.fault = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked > 3 {
			return false
		}
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"pathId":%q,"message":"Document type notes_about does not exist"}`, r.URL.Path)
		return true
	}
	o.Config = config.URL
	for range 2 {
		s := must.Get(Open(t.Context(), o))
		must.Do(t, s.Close())
	}
	want := []string{"hosts.xml", "schemas/notes.sd", "schemas/notes_about.sd", "search/query-profiles/default.xml",
		"services.xml"}
	check.That(t, deployed == 1 && slices.Equal(names, want), "deployed %d times, %q", deployed, names)
}

func TestExamine(t *testing.T) {
	server, s := serving(t)
	storetest.Healthy(t, Examine(t.Context(), s.o))
	check.Equal(t, len(server.kept()), 0, "left behind")
	bad := s.o
	bad.URL = "http://127.0.0.1:1"
	got := Examine(t.Context(), bad)
	check.That(t, len(got) == 1 && errors.Is(got[0].Err, sheaf.ErrUnavailable), "nobody listens: %+v", got)
	server.fault = failing("_probe_", 1, 403, "", "read only certificate")
	failed := 0
	for _, f := range Examine(t.Context(), s.o) {
		if f.Err != nil {
			failed++
			check.That(t, f.Check == "rights" && strings.Contains(f.Err.Error(), "read only certificate"),
				"%s: %v", f.Check, f.Err)
		}
	}
	check.Equal(t, failed, 1, "faults")
}

func TestDrop(t *testing.T) {
	var paths []string
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.Method+" "+r.URL.RequestURI())
		switch len(paths) {
		case 1:
			fmt.Fprint(w, `{"pathId":"/document/v1/sheaf/notes/docid","documentCount":1000,"continuation":"AA/="}`)
		case 2:
			fmt.Fprint(w, `{"pathId":"/document/v1/sheaf/notes/docid","documentCount":3}`)
		default:
			w.WriteHeader(400)
			fmt.Fprint(w, `{"message":"no such type"}`)
		}
	}))
	defer front.Close()
	must.Do(t, Drop(t.Context(), Options{Options: storekit.Options{URL: front.URL}, Schema: "notes"}))
	want := []string{"DELETE /document/v1/sheaf/notes/docid/?selection=true",
		"DELETE /document/v1/sheaf/notes/docid/?selection=true&continuation=AA%2F%3D",
		"DELETE /document/v1/sheaf/notes_about/docid/?selection=true"}
	check.List(t, paths, want, "sent")
}

// TestEmpty checks that Empty removes all documents and keeps the store's record.
func TestEmpty(t *testing.T) {
	server, s := serving(t)
	must.Do(t, s.Empty(t.Context()))
	want := []string{"DELETE /document/v1/sheaf/notes/docid/?selection=true"}
	check.That(t, slices.Equal(server.requests, want), "sent %q, want %q", server.requests, want)
}
