// Package storetest is the conformance suite for every store: it tests the promises of package store. [Run] runs the
// suite; [RandomHistory] compares two stores, step by step.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// Options say how to open a store and what it can do.
type Options struct {
	// Open returns an empty store with an English analyzer. The test closes the store.
	Open func(t testing.TB) store.Backend
	// Reopen closes a store and opens it again with the same content. It is nil if closing loses the content.
	Reopen func(t testing.TB, b store.Backend) store.Backend
	// Lacks reports whether the store refuses a request. The store must then answer the request with
	// sheaf.ErrUnsupported. Nil means that the store refuses no request.
	Lacks func(req store.Request) bool
	// Shape changes random requests into requests that the store can answer, so that tests cover more. Nil changes
	// nothing.
	Shape func(req *store.Request)
	// Skip names tests that the store cannot pass, each with the reason.
	Skip map[string]string
	// Torn means that readers may see a part of a batch while the store writes the batch.
	Torn bool
	// Tolerance is the largest relative error of scores; 0 means 1e-9.
	Tolerance float64
}

// limits has the Options with which each open store was opened.
var limits sync.Map

// Limited records o as the Options of b and returns b. A test calls it for a store that it opened without Options.Open.
func Limited(b store.Backend, o Options) store.Backend {
	limits.Store(b, o)
	return b
}

// remembering returns a copy of o whose functions Open and Reopen record each opened store in limits.
func (o Options) remembering() Options {
	open, reopen := o.Open, o.Reopen
	o.Open = func(t testing.TB) store.Backend {
		return Limited(open(t), o)
	}
	if reopen != nil {
		o.Reopen = func(t testing.TB, b store.Backend) store.Backend {
			return Limited(reopen(t, b), o)
		}
	}
	return o
}

func optionsOf(b store.Backend) Options {
	if o, ok := limits.Load(b); ok {
		return o.(Options)
	}
	return Options{}
}

// refused reports whether the Options of b say that b refuses the request. If so, it checks that b does.
func refused(t testing.TB, b store.Backend, req store.Request) bool {
	t.Helper()
	lacks := optionsOf(b).Lacks
	if lacks == nil || !lacks(req) {
		return false
	}
	if r, err := b.Retrieve(context.Background(), req); !errors.Is(err, sheaf.ErrUnsupported) {
		t.Errorf("%+v %+v: found %s, %v; the store cannot answer this, and must say so", req.Text, req.Filter, ids(r), err)
	}
	return true
}

// Run runs all tests of the suite for one store.
func Run(t *testing.T, o Options) {
	o = o.remembering()
	tests := map[string]func(*testing.T, store.Backend){
		"scores": scores, "combine": combine, "statistics": statistics, "filters": filters, "order": order,
		"changes": changes, "within": testWithin, "many": many, "vectors": vectors, "invalid": invalid, "hostile": hostile,
		"bulk": bulk, "concurrent": concurrent, "explain": explain, "reopen": reopen, "cancel": cancel,
		"together": together, "large": large, "names": names, "emptied": emptied,
	}
	for name, test := range textTests() {
		tests[name] = test.check
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if reason, ok := o.Skip[name]; ok {
				t.Skip(reason)
			}
			b := o.Open(t)
			defer b.Close()
			test(t, b)
		})
	}
}

// Chunk returns the chunk with this ID, "doc#slug". fields are pairs of a name and a text.
func Chunk(id string, fields ...string) store.Chunk {
	doc, _, _ := strings.Cut(id, "#")
	c := store.Chunk{ID: sheaf.ID(id), Doc: sheaf.ID(doc)}
	for i := 0; i+1 < len(fields); i += 2 {
		c.Fields = append(c.Fields, store.Field{Name: fields[i], Text: fields[i+1]})
	}
	return c
}

func withColumns(c store.Chunk, columns ...store.Column) store.Chunk {
	c.Columns = columns
	slices.SortFunc(c.Columns, func(a, b store.Column) int { return strings.Compare(a.Name, b.Name) })
	return c
}

func column(name string, values ...sheaf.Value) store.Column {
	return store.Column{Name: name, Values: values}
}

func write(t testing.TB, b store.Backend, chunks ...store.Chunk) {
	t.Helper()
	must.Do(t, b.Write(context.Background(), store.Batch{Chunks: chunks}))
}

// Words returns a request for the query q in title and body.
func Words(q sheaf.TextQuery) store.Request {
	return store.Request{Limit: 100, Text: &store.TextRequest{Query: q, K1: store.DefaultK1, B: store.DefaultB,
		Fields: []store.FieldWeight{{Name: sheaf.FieldTitle, Weight: 2}, {Name: sheaf.FieldBody, Weight: 1}}}}
}

// One returns a batch with one chunk. Its body is the text in words. The batch replaces the chunk's document.
func One(id, words string) store.Batch {
	c := Chunk(id, sheaf.FieldBody, words)
	return store.Batch{Replace: []sheaf.ID{c.Doc}, Chunks: []store.Chunk{c}}
}

// Hits returns how many chunks a word finds.
func Hits(t *testing.T, b store.Backend, word string) int {
	t.Helper()
	r := must.Get(b.Retrieve(t.Context(), Words(sheaf.Match{Text: word})))
	return len(r)
}

func body(q sheaf.TextQuery) store.Request {
	r := Words(q)
	r.Text.Fields = []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}
	return r
}

// retrieve returns the hits of a request. If the store refuses the request, it skips the test.
func retrieve(t testing.TB, b store.Backend, req store.Request) sheaf.Ranking {
	t.Helper()
	if refused(t, b, req) {
		t.Skip("the store cannot answer this, and says so")
	}
	r := must.Get(b.Retrieve(context.Background(), req))
	return r
}

func ids(r sheaf.Ranking) string {
	var out []string
	for _, h := range r {
		out = append(out, string(h.ID))
	}
	return strings.Join(out, " ")
}

func expect(t testing.TB, b store.Backend, what string, req store.Request, want string) {
	t.Helper()
	if refused(t, b, req) {
		return
	}
	check.Equal(t, ids(retrieve(t, b, req)), want, "%s: found", what)
}

// near reports whether the difference of two scores of store s is within the store's tolerance.
func near(s store.Backend, a, b float64) bool {
	tolerance := optionsOf(s).Tolerance
	if tolerance == 0 {
		tolerance = 1e-9
	}
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

func idf(df, n float64) float64 { return math.Log(1 + (n-df+0.5)/(df+0.5)) }

// scores checks BM25 scores against numbers that the test computes.
func scores(t *testing.T, b store.Backend) {
	write(t, b, Chunk("t:a", "body", "apple banana apple"), Chunk("t:b", "body", "banana cherry cherry cherry cherry"),
		Chunk("t:c", "title", "apple"))
	r := retrieve(t, b, body(sheaf.Match{Text: "Apples banana"}))
	// Two chunks have a body, of 3 and 5 terms: 4 on average.
	sat := func(tf, length float64) float64 { return tf / (tf + 1.2*(0.25+0.75*length/4)) }
	want := map[sheaf.ID]float64{
		"t:a": idf(1, 2)*sat(2, 3) + idf(2, 2)*sat(1, 3),
		"t:b": idf(2, 2) * sat(1, 5),
	}
	must.That(t, len(r) == 2 && r[0].ID == "t:a", "found %v", r)
	for _, h := range r {
		if !near(b, h.Score, want[h.ID]) {
			t.Errorf("%s scores %v, want %v", h.ID, h.Score, want[h.ID])
		}
	}
	twice := retrieve(t, b, body(sheaf.Match{Text: "apple apple"}))
	once := retrieve(t, b, body(sheaf.Match{Text: "apple"}))
	check.That(t, len(once) == 1 && near(b, twice[0].Score, 2*once[0].Score),
		"a term given twice scores %v, once %v", twice, once)
}

// combine checks the ways to combine fields against numbers that the test computes.
func combine(t *testing.T, b store.Backend) {
	write(t, b, Chunk("t:a", "title", "apple", "body", "apple pie apple"), Chunk("t:b", "title", "pie", "body", "banana"))
	title := 2 * idf(1, 2) * (1 / (1 + 1.2*(0.25+0.75*1/1)))
	text := idf(1, 2) * (2 / (2 + 1.2*(0.25+0.75*3/2)))
	req := Words(sheaf.Match{Text: "apple"})
	score := func() float64 {
		t.Helper()
		r := retrieve(t, b, req)
		must.That(t, len(r) == 1 && r[0].ID == "t:a", "found %v", r)
		return r[0].Score
	}
	got := score()
	check.That(t, near(b, got, title+text), "sum: %v, want %v", got, title+text)
	req.Text.Combine, req.Text.TieBreaker = store.CombineBest, 0.3
	if got := score(); !near(b, got, max(title, text)+0.3*min(title, text)) {
		t.Errorf("best: %v, want %v", got, max(title, text)+0.3*min(title, text))
	}
	req.Text.Combine = store.CombineBM25F
	frequency, length, average := 2*1+2.0, 2*1+3.0, (2*(1+1)+(3+1.0))/2
	want := idf(1, 2) * frequency / (frequency + 1.2*(0.25+0.75*length/average))
	got = score()
	check.That(t, near(b, got, want), "bm25f: %v, want %v", got, want)
}

// statistics checks scores with each kind of statistics: of all chunks, of the candidates, and of the chunks in Among.
func statistics(t *testing.T, b store.Backend) {
	in := column("g", sheaf.TextValue("in"))
	write(t, b, withColumns(Chunk("t:a", "body", "apple pie"), in, column("only", sheaf.BoolValue(true))),
		withColumns(Chunk("t:b", "body", "pie crust dough flour"), in),
		Chunk("t:c", "body", "apple apple"), Chunk("t:d", "body", "pie pie pie"))
	req := body(sheaf.Match{Text: "apple"})
	req.Filter = sheaf.In{Column: "g", Values: []sheaf.Value{sheaf.TextValue("in")}}
	corpus := retrieve(t, b, req)
	want := idf(2, 4) * (1 / (1 + 1.2*(0.25+0.75*2/2.75)))
	check.That(t, len(corpus) == 1 && near(b, corpus[0].Score, want), "corpus: %v, want %v", corpus, want)
	req.Text.Statistics = store.StatisticsCandidates
	candidates := retrieve(t, b, req)
	want = idf(1, 2) * (1 / (1 + 1.2*(0.25+0.75*2/3)))
	check.That(t, len(candidates) == 1 && near(b, candidates[0].Score, want), "candidates: %v, want %v", candidates, want)
	req.Within = []sheaf.ID{"t:a"}
	one := retrieve(t, b, req)
	want = idf(1, 1) * (1 / (1 + 1.2*(0.25+0.75*2/2)))
	check.That(t, len(one) == 1 && near(b, one[0].Score, want), "candidates, one of them: %v, want %v", one, want)
	req.Text.Statistics, req.Text.Among = store.StatisticsCorpus, req.Filter
	for _, req.Within = range [][]sheaf.ID{nil, {"t:a"}, {"t:a", "t:c"}} {
		for _, req.Filter = range []sheaf.Filter{req.Text.Among, sheaf.And{req.Text.Among, sheaf.Exists{Column: "only"}}} {
			if got := retrieve(t, b, req); len(got) != 1 || got[0].ID != "t:a" || got[0].Score != candidates[0].Score {
				t.Errorf("among those of a filter, with %v within %q: %v, want %v", req.Filter, req.Within, got, candidates)
			}
		}
	}
}

// filters checks every filter operator against the filter's own method Match.
func filters(t *testing.T, b store.Backend) {
	day := func(d int) sheaf.Value { return sheaf.DateValue(time.Date(2024, 1, d, 0, 0, 0, 0, time.UTC)) }
	old := sheaf.DateValue(time.Date(999, 1, 1, 0, 0, 0, 0, time.UTC))
	chunks := []store.Chunk{
		withColumns(Chunk("t:a", "body", "x"), column("tag", sheaf.TextValue("red"), sheaf.TextValue("été")),
			column("n", sheaf.NumberValue(1)), column("date", day(1))),
		withColumns(Chunk("t:b", "body", "x"), column("tag", sheaf.TextValue("blue")),
			column("n", sheaf.NumberValue(-2.5), sheaf.NumberValue(10)), column("ok", sheaf.BoolValue(true))),
		withColumns(Chunk("t:c", "body", "x"), column("tag", sheaf.TextValue("redder"), sheaf.TextValue("")),
			column("date", day(31)), column("ok", sheaf.BoolValue(false))),
		withColumns(Chunk("t:d", "body", "x"), column("n", sheaf.TextValue("1")),
			column("c", sheaf.TextValue("a"), sheaf.TextValue("bc"), sheaf.NumberValue(3)),
			column("acl", sheaf.TextValue("user:ann"), sheaf.TextValue("group:ops"))),
		Chunk("t:e", "body", "x"),
		withColumns(Chunk("t:f", "body", "x"), column("n", sheaf.NumberValue(2_100_000_000)), column("date", old)),
		withColumns(Chunk("t:g", "body", "x"), column("n", sheaf.NumberValue(12.1)),
			column("n.text", sheaf.TextValue("12.10"))),
	}
	write(t, b, chunks...)
	text, num := sheaf.TextValue, sheaf.NumberValue
	in := func(c string, v ...sheaf.Value) sheaf.Filter { return sheaf.In{Column: c, Values: v} }
	list := []sheaf.Filter{
		in("tag", text("red")), in("tag", text("red"), text("blue")), in("tag"), in("tag", text("RED")),
		in("tag", text("été")), in("tag", text("")), in("none", text("x")),
		in("n", num(1)), in("n", text("1")), in("n", num(10)), in("ok", sheaf.BoolValue(false)), in("date", day(1)),
		in("acl", text("group:ops"), text("user:bob")),
		sheaf.Range{Column: "n", Min: num(0)}, sheaf.Range{Column: "n", Max: num(1)},
		sheaf.Range{Column: "n", Max: num(1), MaxOpen: true},
		sheaf.Range{Column: "n", Min: num(-2.5), Max: num(-2.5)},
		sheaf.Range{Column: "n", Min: num(-2.5), MinOpen: true, Max: num(2)}, sheaf.Range{Column: "n"},
		sheaf.Range{Column: "n", Min: num(0), Max: text("z")}, sheaf.Range{Column: "tag", Min: text("c"), Max: text("red")},
		sheaf.Range{Column: "n", Min: num(math.Inf(-1)), Max: num(math.Inf(1))},
		sheaf.Range{Column: "date", Min: day(1), MinOpen: true}, sheaf.Range{Column: "date", Min: day(1), Max: day(31)},
		sheaf.Range{Column: "date", Max: day(31), MaxOpen: true}, in("date", old), in("n", num(12.1)),
		sheaf.Range{Column: "date", Max: old}, sheaf.Range{Column: "n", Min: num(2_099_999_999), MinOpen: true},
		sheaf.Exists{Column: "n"}, sheaf.Exists{Column: "none"}, sheaf.HasPrefix{Column: "tag", Prefix: "red"},
		sheaf.HasPrefix{Column: "tag", Prefix: ""}, sheaf.HasPrefix{Column: "n", Prefix: "1"},
		sheaf.HasPrefix{Column: "tag", Prefix: "é"}, sheaf.HasPrefix{Column: "tag", Prefix: "\xff"}, sheaf.And{}, sheaf.Or{},
		nil,
		sheaf.Not{Filter: in("tag", text("red"))}, sheaf.Not{Filter: sheaf.Not{Filter: sheaf.Exists{Column: "n"}}},
		sheaf.Not{Filter: sheaf.Or{}},
		sheaf.And{sheaf.Exists{Column: "tag"}, sheaf.Not{Filter: sheaf.Exists{Column: "n"}}},
		sheaf.Or{in("ok", sheaf.BoolValue(true)), sheaf.And{in("n", num(1)), in("tag", text("red"))}},
		sheaf.And{sheaf.Or{sheaf.Exists{Column: "n"}, sheaf.Exists{Column: "date"}},
			sheaf.Not{Filter: sheaf.And{sheaf.Exists{Column: "n"}, sheaf.Exists{Column: "date"}}}},
	}
	h := &history{r: rand.New(rand.NewPCG(3, 11))}
	for range 200 {
		list = append(list, h.filter(4))
	}
	for _, f := range list {
		var want []string
		for i := range chunks {
			if f == nil || f.Match(&chunks[i]) {
				want = append(want, string(chunks[i].ID))
			}
		}
		req := body(sheaf.Match{Text: "x"})
		req.Filter = f
		expect(t, b, fmt.Sprintf("%#v", f), req, strings.Join(want, " "))
	}
}

// order checks that equal scores are ordered by ID, and that different limits give parts of one ranking.
func order(t *testing.T, b store.Backend) {
	var chunks []store.Chunk
	for i := range 40 {
		chunks = append(chunks, Chunk(fmt.Sprintf("t:%c%d", 'z'-rune(i%7), i%11+i), "body", strings.Repeat("same ", 1+i%2)))
	}
	write(t, b, chunks[:25]...)
	write(t, b, chunks[25:]...)
	req := body(sheaf.Match{Text: "same"})
	all := retrieve(t, b, req)
	must.That(t, len(all) == len(chunks) && slices.IsSortedFunc(all, sheaf.Compare),
		"%d of %d found, or out of order: %s", len(all), len(chunks), ids(all))
	for _, limit := range []int{1, 2, 19, 20, 21, 39, 40, 41} {
		req.Limit = limit
		if got, want := ids(retrieve(t, b, req)), ids(all[:min(limit, len(all))]); got != want {
			t.Errorf("limit %d: %s, want %s", limit, got, want)
		}
	}
}
