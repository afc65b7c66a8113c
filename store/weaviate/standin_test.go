package weaviate_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
)

// standIn replaces Weaviate in these tests. A chunk's score counts the query's words in a property.
// Equal scores have an order of the server's own, and lists are limited as in the real server.
type standIn struct {
	t testing.TB

	mu      sync.Mutex
	classes []map[string]any
	objects map[string][]kept // by class
	asked   int               // number of queries for hits
	last    int               // the server fails after this many queries; 0 means never
}

type kept struct {
	Class      string
	ID         string
	Properties map[string]any
	Vector     []float64
}

// most is the largest number of hits in an answer of the server.
const most = 10_000

var (
	getQuery    = regexp.MustCompile(`^{Get{(\w+)\(limit:(\d+) (.*)\){([^{}]*(?:{\w+})?)}}}$`)
	wordsQuery  = regexp.MustCompile(`^bm25:{query:"([^"]*)" properties:\["(\w+)"\]}`)
	vectorQuery = regexp.MustCompile(`^nearVector:{vector:(\[[^\]]*\])}`)
	chunkFilter = regexp.MustCompile(`^(?: where:({operator:Not operands:\[)?{path:\["chunk"\] operator:ContainsAny ` +
		`valueText:(\[[^\]]*\])}(?:\]})?)?$`)
)

// RoundTrip implements [http.RoundTripper].
func (s *standIn) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if s.last > 0 && s.asked >= s.last {
		return nil, errors.New("asked without end")
	}
	var answer any
	read := func(into any) {
		if err := json.Unmarshal(body, into); err != nil {
			s.t.Errorf("%s: %v: %s", req.URL, err, body)
		}
	}
	switch what := req.Method + " " + req.URL.Path; {
	case what == "GET /v1/schema":
		answer = map[string]any{"classes": append([]map[string]any{}, s.classes...)} // [] when the server has no classes
	case what == "POST /v1/schema":
		var class map[string]any
		read(&class)
		s.classes = append(s.classes, class)
		answer = class
	case strings.HasPrefix(what, "POST /v1/schema/"):
		answer = map[string]any{}
	case what == "POST /v1/batch/objects":
		var batch struct{ Objects []kept }
		read(&batch)
		said := make([]any, len(batch.Objects))
		for i, o := range batch.Objects {
			s.objects[o.Class] = append(s.objects[o.Class], o)
			said[i] = map[string]any{"result": map[string]any{"status": "SUCCESS"}}
		}
		answer = said
	case what == "DELETE /v1/batch/objects":
		answer = map[string]any{"results": map[string]any{"matches": 0}}
	case what == "POST /v1/graphql":
		var q struct{ Query string }
		read(&q)
		answer = s.answer(q.Query)
	default:
		s.t.Errorf("the stand-in does not know %s", what)
	}
	out, err := json.Marshal(answer)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(out)),
		Request: req}, err
}

func (s *standIn) answer(query string) any {
	m := getQuery.FindStringSubmatch(query)
	if m == nil {
		s.t.Errorf("the stand-in does not understand %s", query)
		return nil
	}
	class, rest := m[1], m[3]
	limit, err := strconv.Atoi(m[2])
	if err != nil || limit > most {
		s.t.Errorf("a limit of %s: at most %d", m[2], most)
	}
	s.asked++
	var score func(o *kept) float64
	if words := wordsQuery.FindStringSubmatch(rest); words != nil {
		rest = rest[len(words[0]):]
		score = func(o *kept) float64 {
			text, _ := o.Properties[words[2]].(string)
			n := 0
			for _, have := range strings.Fields(text) {
				if slices.Contains(strings.Fields(words[1]), have) {
					n++
				}
			}
			return float64(n)
		}
	} else if near := vectorQuery.FindStringSubmatch(rest); near != nil {
		rest = rest[len(near[0]):]
		var v []float64
		must.Do(s.t, json.Unmarshal([]byte(near[1]), &v))
		score = func(o *kept) float64 {
			dot := 1.0 // keeps scores above 0; 0 means no match
			for i, x := range o.Vector {
				dot += x * v[i]
			}
			return dot + 1
		}
	}
	filter := chunkFilter.FindStringSubmatch(rest)
	if score == nil || filter == nil {
		s.t.Errorf("the stand-in does not understand %s", query)
		return nil
	}
	among := map[string]bool{}
	if filter[2] != "" {
		var hashes []string
		must.Do(s.t, json.Unmarshal([]byte(filter[2]), &hashes))
		for _, h := range hashes {
			among[h] = true
		}
	}
	type found struct {
		o     *kept
		score float64
	}
	var all []found
	for i := range s.objects[class] {
		o := &s.objects[class][i]
		if n := score(o); n > 0 && (filter[2] == "" || among[o.Properties["chunk"].(string)] == (filter[1] == "")) {
			all = append(all, found{o, n})
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.o.ID, b.o.ID))
	})
	list := []any{}
	for _, f := range all[:min(len(all), limit)] {
		more := map[string]any{"score": strconv.FormatFloat(f.score, 'g', -1, 64)}
		if near := strings.HasPrefix(m[4], "n "); near {
			more = map[string]any{"distance": 3 - f.score}
		}
		list = append(list, map[string]any{"cid": f.o.Properties["cid"], "n": f.o.Properties["n"], "_additional": more})
	}
	return map[string]any{"data": map[string]any{"Get": map[string]any{class: list}}}
}

// standing opens a store on a stand-in.
func standing(t *testing.T) (*weaviate.Store, *standIn) {
	t.Helper()
	server := &standIn{t: t, objects: map[string][]kept{}}
	s := must.Get(weaviate.Open(t.Context(), weaviate.Options{Options: storekit.Options{URL: "http://weaviate",
		Client: &http.Client{Transport: server}, Analyzer: storetest.Analyzer(t, "en"),
		Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 2}}}, Class: "StandIn"}))
	return s, server
}

// TestNearestOfManyPassages checks that the nearest chunks equal a comparison of every passage, for
// any number of passages and of ties.
func TestNearestOfManyPassages(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 6 {
		s, _ := standing(t)
		var batch store.Batch
		for i := range 100 {
			c := storetest.Chunk(fmt.Sprintf("t:%03d", i), "body", "x")
			n := 1
			if i%7 == round {
				n = 1 + r.IntN(60)
			}
			v := store.Vectors{Name: "body"}
			for range n {
				// Few directions give many equal distances.
				v.Passages = append(v.Passages, [][]float32{{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {0.6, 0.8},
					{0.8, 0.6}}[r.IntN(1+round%6)])
			}
			c.Vectors = []store.Vectors{v}
			batch.Chunks = append(batch.Chunks, c)
		}
		must.Do(t, s.Write(t.Context(), batch))
		near := []float32{0.8, 0.6}
		var want sheaf.Ranking
		for _, c := range batch.Chunks {
			best := sheaf.Hit{ID: c.ID, Score: -2}
			for n, p := range c.Vectors[0].Passages {
				if score := float64(p[0]*near[0]) + float64(p[1]*near[1]); score > best.Score+1e-6 {
					best.Score, best.Passage = score, n
				}
			}
			want = append(want, best)
		}
		want.Sort()
		for _, limit := range []int{1, 10, 40, 150} {
			req := store.Request{Limit: limit, Vector: &store.VectorRequest{Field: "body", Vector: near}}
			got := must.Get(s.Retrieve(t.Context(), req))
			if k := min(limit, len(want)); len(got) != k || !slices.EqualFunc(got, want[:k], func(a, b sheaf.Hit) bool {
				return a.ID == b.ID && a.Passage == b.Passage && abs(a.Score-b.Score) < 1e-6
			}) {
				t.Fatalf("round %d, limit %d: %v, want %v", round, limit, got, want[:k])
			}
		}
	}
}

// TestLongestList checks that the store answers from the server's longest list when more equal hits
// may follow it. Documents that fill the longest list must not hide others.
func TestLongestList(t *testing.T) {
	type long struct{ chunks, passages int }
	for what, c := range map[string]struct {
		nearest long // the nearest chunks and the passages of each
		others  int  // number of chunks with one passage, each farther than the last
	}{
		"more chunks than a list takes, equally near": {long{most + 50, 1}, 0},
		"one chunk fills the list, there is no other": {long{1, most + 50}, 0},
		"one chunk fills the list":                    {long{1, most + 50}, 30},
		"three chunks fill a list each":               {long{3, most + 50}, 30},
	} {
		s, server := standing(t)
		var batch store.Batch
		var want sheaf.Ranking
		add := func(vector []float32, passages int) {
			chunk := storetest.Chunk(fmt.Sprintf("t:%05d", len(batch.Chunks)), "body", "x")
			chunk.Vectors = []store.Vectors{{Name: "body", Passages: slices.Repeat([][]float32{vector}, passages)}}
			batch.Chunks = append(batch.Chunks, chunk)
			want = append(want, sheaf.Hit{ID: chunk.ID, Score: float64(vector[0])})
		}
		for i := range c.nearest.chunks {
			x := 1.0
			if c.others > 0 {
				x -= float64(i) / 1000
			}
			add([]float32{float32(x), float32(math.Sqrt(1 - x*x))}, c.nearest.passages)
		}
		for i := range c.others {
			x := 1 - float64(i+1)/100
			add([]float32{float32(x), float32(math.Sqrt(1 - x*x))}, 1)
		}
		must.Do(t, s.Write(t.Context(), batch))
		const limit = 40
		server.last = server.asked + 200
		got, err := s.Retrieve(t.Context(), store.Request{Limit: limit,
			Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0}}})
		want.Sort()
		want = want[:min(limit, len(want))]
		switch {
		case err != nil || len(got) != len(want):
			t.Errorf("%s: %d hits, want %d, %v", what, len(got), len(want), err)
		case c.nearest.chunks < limit:
			for i := range want {
				check.That(t, got[i].ID == want[i].ID && abs(got[i].Score-want[i].Score) <= 1e-6, "%s: hit %d is %v, want %v", what,
					i, got[i], want[i])
			}
		}
	}
}

func abs(x float64) float64 { return max(x, -x) }

// TestLongLists checks that the store asks for a chunk that only one list has, because another list was full.
func TestLongLists(t *testing.T) {
	s, server := standing(t)
	var batch store.Batch
	hashes := map[string]string{}
	for i := range most + 50 {
		id := fmt.Sprintf("t:%05d", i)
		sum := sha256.Sum256([]byte(id))
		hashes[id] = hex.EncodeToString(sum[:])
		title, body := "x", "green"
		if i%4 == 0 {
			title = "green"
		}
		if i%1000 == 0 {
			body = "green green"
		}
		batch.Chunks = append(batch.Chunks, storetest.Chunk(id, "title", title, "body", body))
	}
	must.Do(t, s.Write(t.Context(), batch))
	req := storetest.Words(sheaf.Match{Text: "green"})
	req.Limit = 3000
	req.Text.Fields = []store.FieldWeight{{Name: "title", Weight: 1.5}, {Name: "body", Weight: 1}}
	got := must.Get(s.Retrieve(t.Context(), req))
	var want sheaf.Ranking
	for i, c := range batch.Chunks {
		score := 1.0
		if i%4 == 0 {
			score += 1.5
		}
		if i%1000 == 0 {
			score++
		}
		want = append(want, sheaf.Hit{ID: c.ID, Score: score})
	}
	want.Sort()
	titled := (most + 50 + 3) / 4 // equal hits follow, and the server may return any of them
	for i := range titled {
		must.That(t, got[i].ID == want[i].ID && abs(got[i].Score-want[i].Score) <= 1e-6, "hit %d: %v, want %v", i, got[i],
			want[i])
	}
	check.Equal(t, server.asked, 3, "requests for lists")
}

// TestRefusals checks that the store refuses a request before it asks the server. storekit has the
// rules for words.
func TestRefusals(t *testing.T) {
	s, server := standing(t)
	one := storetest.One("t:a", "tea")
	one.Chunks[0].Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{{1, 0}}}}
	must.Do(t, s.Write(t.Context(), store.Batch{Chunks: one.Chunks}))
	virtual, long := storetest.Words(sheaf.Match{Text: "tea"}), storetest.Words(sheaf.Match{Text: "tea"})
	virtual.Text.Combine, long.Limit = store.CombineBM25F, most
	for _, c := range []struct {
		req  store.Request
		want error
		says string
	}{
		{virtual, sheaf.ErrUnsupported, "combine: bm25f"},
		{long, sheaf.ErrUnsupported, "a limit of 10000: fewer than 10000"},
		{store.Request{Limit: most, Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0}}},
			sheaf.ErrUnsupported, "a limit of 10000"},
		{store.Request{Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0, 0}}},
			sheaf.ErrInvalid, `the vector has 3 dimensions, field "body" has 2`},
	} {
		check.Fails(t, must.Err(s.Retrieve(t.Context(), c.req)), c.want, c.says, "Retrieve")
	}
	check.That(t, server.asked <= 0, "%d lists were asked for in vain", server.asked)
}
