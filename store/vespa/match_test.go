package vespa

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search/onyx"
	"sheaf/search/onyx/onyxtest"
	"sheaf/store"
	"sheaf/store/storetest"
)

// matched returns which chunks a request finds: Vespa parses the query, and the judge evaluates the
// tree for each document.
func matched(t *testing.T, j *judge, s *Store, dir string, req store.Request, chunks []store.Chunk) []bool {
	t.Helper()
	body := must.Get(sent(s, req))
	if body == nil {
		return make([]bool, len(chunks))
	}
	documents := make([]any, len(chunks))
	for i := range chunks {
		documents[i] = s.document(&chunks[i], "TOKEN")["fields"]
	}
	var got struct{ Found []bool }
	j.accept(t, object{"do": "match", "dir": dir, "body": body, "documents": documents}, &got)
	must.Equal(t, len(got.Found), len(chunks), "answers")
	return got.Found
}

// all returns a request that finds every chunk that passes a filter.
func all(f sheaf.Filter) store.Request {
	r := storetest.Words(sheaf.Bool{})
	r.Filter = f
	return r
}

// randomly makes random filters and columns with few values, so that some match.
type randomly struct{ *rand.Rand }

func (r randomly) column() string {
	return []string{"tag", sheaf.ColumnAccess, sheaf.ColumnTenant, "onyx.hidden", "", "n", "Ü"}[r.IntN(7)]
}

func (r randomly) value() sheaf.Value {
	switch r.IntN(6) {
	case 0:
		return sheaf.NumberValue([]float64{0, -0.5, 1, 1e300, math.Inf(-1), 1 + 1e-15, math.MaxFloat64}[r.IntN(7)])
	case 1:
		return sheaf.DateValue(time.UnixMilli(int64(r.IntN(3)-1) * 86_400_000))
	case 2:
		return sheaf.BoolValue(r.IntN(2) == 0)
	}
	return text([]string{"a", "A", "ab", "", "a,b", "public", "%61", "'", "\xff", "ä"}[r.IntN(10)])
}

func (r randomly) filter(depth int) sheaf.Filter {
	list := func() (out []sheaf.Filter) {
		for range r.IntN(4) {
			out = append(out, r.filter(depth-1))
		}
		return out
	}
	kinds := 7
	if depth == 0 {
		kinds = 4
	}
	switch r.IntN(kinds) {
	case 0:
		var values []sheaf.Value
		for range r.IntN(4) {
			values = append(values, r.value())
		}
		return sheaf.In{Column: r.column(), Values: values}
	case 1:
		f := sheaf.Range{Column: r.column(), Min: r.value(), Max: r.value(), MinOpen: r.IntN(2) == 0, MaxOpen: r.IntN(2) == 0}
		if r.IntN(3) == 0 {
			f.Min = sheaf.Value{}
		} else if r.IntN(2) == 0 {
			f.Max = sheaf.Value{}
		}
		if kind, ok := f.Kind(); ok && kind == sheaf.KindText {
			return sheaf.Range{} // TestUnsupported covers ranges of texts
		}
		return f
	case 2:
		return sheaf.Exists{Column: r.column()}
	case 3:
		return sheaf.HasPrefix{Column: r.column(), Prefix: []string{"", "a", "A", "ab", "\xc3"}[r.IntN(5)]}
	case 4:
		return sheaf.And(list())
	case 5:
		return sheaf.Or(list())
	}
	return sheaf.Not{Filter: r.filter(depth - 1)}
}

// TestFilters checks that Vespa evaluates random filters as Match does.
func TestFilters(t *testing.T) {
	j := classes(t)
	s := unconnected(t)
	dir := written(t, s.o)
	seed := rand.Uint64()
	r := randomly{rand.New(rand.NewPCG(seed, 6))}
	var chunks []store.Chunk
	for i := range 60 {
		c := storetest.Chunk(fmt.Sprintf("t:%d", i), "body", "x")
		names := map[string]bool{}
		for range r.IntN(5) {
			if name := r.column(); !names[name] {
				names[name] = true
				col := store.Column{Name: name}
				for range 1 + r.IntN(3) {
					col.Values = append(col.Values, r.value())
				}
				c.Columns = append(c.Columns, col)
			}
		}
		chunks = append(chunks, c)
	}
	some := 0
	for range 300 {
		f := r.filter(3)
		for i, got := range matched(t, j, s, dir, all(f), chunks) {
			if want := f.Match(&chunks[i]); got != want {
				t.Fatalf("seed %d: %#v of %+v is %t, want %t", seed, f, chunks[i].Columns, got, want)
			} else if want {
				some++
			}
		}
	}
	check.That(t, some != 0, "seed %d: no filter let anything through", seed)
}

// TestWordsMatch checks what must, should, must not and within find.
func TestWordsMatch(t *testing.T) {
	j := classes(t)
	s := unconnected(t)
	dir := written(t, s.o)
	chunks := []store.Chunk{storetest.Chunk("t:0", "body", "green tea"),
		storetest.Chunk("t:1", "title", "Tea", "body", "coffee"),
		storetest.Chunk("t:2", "body", "coffee"), storetest.Chunk("t:3", "path", "tea"),
		storetest.Chunk("t:4", "body", "C++ naïve")}
	match := func(v string) sheaf.TextQuery { return sheaf.Match{Text: v} }
	within := storetest.Words(match("tea"))
	within.Within = []sheaf.ID{"t:1", "t:9"}
	for what, c := range map[string]struct {
		req  store.Request
		want string
	}{
		"any field": {storetest.Words(match("teas")), "0 1"},
		"one field": {storetest.Words(sheaf.Match{Text: "tea", Field: "path"}), "3"},
		"must": {storetest.Words(sheaf.Bool{Must: []sheaf.TextQuery{match("tea"), match("coffee")},
			Should: []sheaf.TextQuery{match("green")}}), "1"},
		"should": {storetest.Words(sheaf.Bool{Should: []sheaf.TextQuery{match("green"), match("coffee")}}), "0 1 2"},
		"must not": {storetest.Words(sheaf.Bool{Must: []sheaf.TextQuery{match("tea")},
			MustNot: []sheaf.TextQuery{match("coffee")}}), "0"},
		"all but":     {storetest.Words(sheaf.Bool{MustNot: []sheaf.TextQuery{match("tea")}}), "2 3 4"},
		"hexadecimal": {storetest.Words(match("c++ naive")), "4"},
		"within":      {within, "1"},
	} {
		var got []string
		for i, found := range matched(t, j, s, dir, c.req, chunks) {
			if found {
				got = append(got, fmt.Sprint(i))
			}
		}
		check.Equal(t, strings.Join(got, " "), c.want, "%s", what)
	}
}

// TestOnyxFilters checks that Onyx's filters find the same documents in Vespa as in Onyx.
func TestOnyxFilters(t *testing.T) {
	j := classes(t)
	s := unconnected(t)
	dir := written(t, s.o)
	onyxtest.EachFilter(t, "onyx_filters.json", func(t *testing.T, c onyxtest.Filtered, want []sheaf.ID) {
		var kept storetest.Collected
		x := onyx.New(&kept, &onyx.Contents{FS: vfs.NewMem(), Dir: "/onyx"}, func() time.Time { return c.Now })
		must.Get(x.Write(t.Context(), c.Documents))
		must.Get(x.Keyword(t.Context(), sheaf.Match{Text: onyxtest.Word}, c.Filters, 100))
		got := []sheaf.ID{}
		for i, found := range matched(t, j, s, dir, kept.Asked, kept.Chunks) {
			if found {
				got = append(got, kept.Chunks[i].Doc)
			}
		}
		slices.Sort(got)
		check.List(t, got, want, "hits")
	})
}
