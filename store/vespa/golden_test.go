package vespa

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

var rewrite = flag.Bool("update", false, "write golden files anew")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	storetest.Golden(t, filepath.Join("testdata", name), text, *rewrite)
}

// unconnected returns a store without a server, which can only translate requests.
func unconnected(t testing.TB) *Store {
	o := testOptions(t)
	must.Do(t, o.prepare())
	return newStore(o)
}

// sent returns the body of the first query for a request, or nil if the store sends none.
func sent(s *Store, req store.Request) (object, error) {
	a, err := s.prepare(&req)
	if err != nil || a.q.where == nothing {
		return nil, err
	}
	a.window(req.Limit)
	a.q.body["hits"], a.q.body["yql"] = req.Limit, a.q.yql()
	return a.q.body, nil
}

func text(v string) sheaf.Value { return sheaf.TextValue(v) }

// day returns midnight of a day in January 2024.
func day(n int) sheaf.Value { return sheaf.DateValue(time.Date(2024, 1, n, 0, 0, 0, 0, time.UTC)) }

// structured is the judge's answer to a query.
type structured struct {
	Tree, Structure, Profile string
	Inputs                   map[string]string
	Hits                     int
}

// TestQueries compares the query body for each kind of request with a golden file. A second file has
// the trees that Vespa's parser reads from these bodies.
func TestQueries(t *testing.T) {
	s := unconnected(t)
	var bodies strings.Builder
	type one struct {
		name string
		body object
	}
	var all []one
	for _, r := range storetest.Requests() {
		body, err := sent(s, r.Request)
		if errors.Is(err, sheaf.ErrUnsupported) {
			fmt.Fprintf(&bodies, "# %s\n%v\n\n", r.Name, err)
			continue
		}
		must.That(t, err == nil, "%s: %v", r.Name, err)
		all = append(all, one{r.Name, body})
	}
	for _, r := range all {
		out := must.Get(json.MarshalIndent(r.body, "", "  "))
		fmt.Fprintf(&bodies, "# %s\n%s\n\n", r.name, out)
	}
	golden(t, "queries.txt", bodies.String())

	t.Run("Vespa accepts", func(t *testing.T) {
		j := classes(t)
		dir := written(t, testOptions(t))
		var trees strings.Builder
		for _, r := range all {
			var got structured
			j.accept(t, object{"do": "query", "dir": dir, "body": r.body}, &got)
			fmt.Fprintf(&trees, "# %s\n%s\n%s\n\n", r.name, got.Tree, got.Structure)
			check.That(t, got.Hits == r.body["hits"] && got.Profile == r.body["ranking.profile"],
				"%s: Vespa reads %d hits and profile %s of %v", r.name, got.Hits, got.Profile, r.body)
		}
		golden(t, "trees.txt", trees.String())
	})
}

// hostileTexts would change a query if the query contained them unescaped.
var hostileTexts = []string{`"`, `'`, `\`, `") or true or (title contains "`, "x' or '1'='1", "@p0", "true)",
	"{targetHits:1}", "; drop", " | all(group(id))", "select * from sources *",
	"a,b", "%20", "\x00\x01\x1f", "\xff\xfe", "\u2028", "\U0010ffff", "ﬀ", "İ", "日本", "userInput(@x)", "]})", "é\u0301",
	strings.Repeat("a", 5000), "", " ", "limit 0", "-5L"}

// TestInjection checks that Vespa's parser reads the same operators for any text in a request as
// for plain text.
func TestInjection(t *testing.T) {
	j := classes(t)
	s := unconnected(t)
	dir := written(t, testOptions(t))
	request := func(v string) store.Request {
		r := storetest.Words(sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Match{Text: "tea"}}})
		values := []sheaf.Value{text(v)}
		r.Filter = sheaf.And{sheaf.In{Column: v, Values: values}, sheaf.HasPrefix{Column: v, Prefix: v},
			sheaf.Exists{Column: v},
			sheaf.Range{Column: v, Min: sheaf.NumberValue(1)}, sheaf.Not{Filter: sheaf.In{Column: "tag", Values: values}}}
		r.Within = []sheaf.ID{sheaf.ID(v)}
		return r
	}
	read := func(r store.Request) string {
		body := must.Get(sent(s, r))
		var got structured
		j.accept(t, object{"do": "query", "dir": dir, "body": body}, &got)
		return got.Structure
	}
	plain := read(request("plain"))
	for _, v := range hostileTexts {
		check.Equal(t, read(request(v)), plain, "reading of %q", v)
	}
	access := func(v string) string {
		r := storetest.Words(sheaf.Match{Text: "tea"})
		r.Filter = sheaf.In{Column: sheaf.ColumnAccess, Values: []sheaf.Value{text("x"), text(v)}}
		return read(r)
	}
	for _, v := range hostileTexts {
		got, want := access(v), access("plain")
		check.That(t, got == want || v == "", "access of %q is read as %s, want %s", v, got, want)
	}
	// Any words give one leaf for each term and field.
	for _, v := range hostileTexts {
		r := storetest.Words(sheaf.Match{Text: v})
		a, err := s.prepare(&r)
		if err != nil || a.q.where == nothing {
			continue
		}
		terms := strings.Count(a.q.where, " contains ")
		got := read(r)
		check.That(t, strings.Count(got, "WordItem") == terms && !strings.Contains(got, "Segment") && !strings.Contains(got,
			"Phrase"), "words %.40q are read as %.300s, want %d words", v, got, terms)
	}
}

// TestTermsStayWhole checks that Vespa's tokenizer makes exactly one unchanged token of the word
// that encodes a term.
func TestTermsStayWhole(t *testing.T) {
	j := classes(t)
	terms := []string{"a", "run", "2024", "v12", "x86", "c++", "naïve", "zzz", "zy", "東京", "get-item", "#tag", "\xff",
		strings.Repeat("long", 300), "i̇", "ß", "1.5e3", "zz61", "'s"}
	r := rand.New(rand.NewPCG(7, 9))
	for range 300 {
		b := make([]byte, 1+r.IntN(12))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		terms = append(terms, string(b))
	}
	var want []string
	seen := map[string]string{}
	for _, term := range terms {
		word := termWord(term)
		other, ok := seen[word]
		must.That(t, !ok || other == term, "%q and %q are both %q", term, other, word)
		seen[word] = term
		want = append(want, word)
	}
	var got struct{ Tokens []string }
	j.accept(t, object{"do": "tokens", "text": strings.Join(want, " ")}, &got)
	check.Equal(t, strings.Join(got.Tokens, " "), strings.Join(want, " "),
		"%d tokens of %d words", len(got.Tokens), len(want))
}

// chunk returns a chunk with something in every field.
func chunk() store.Chunk {
	c := storetest.Chunk("notes:Tee/a b.md#käse", "title", "Green Tea", "body", "Steamed leaves, steamed C++ leaves.",
		"path", "Tee a b")
	c.Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{{1, 0, 0}, {0.6, 0.8, 0}}},
		{Name: "title", Passages: [][]float32{{0, 0, 1}}}}
	list := func(name string, values ...sheaf.Value) {
		c.Columns = append(c.Columns, store.Column{Name: name, Values: values})
	}
	list(sheaf.ColumnAccess, text("public"), text("user_email:Ann@example.org"))
	list(sheaf.ColumnDate, day(2))
	list("onyx.hidden", sheaf.BoolValue(true))
	list("onyx.index", sheaf.NumberValue(3))
	list("onyx.project", sheaf.NumberValue(7), sheaf.NumberValue(-8))
	list("onyx.relationships", text("A::x__likes__B::y"), text("malformed"))
	list("prop.boost", sheaf.NumberValue(-1.5))
	list("prop.odd", sheaf.NumberValue(math.Inf(1)), text("\x00\"'"))
	list(sheaf.ColumnSet, text("Docs & more"))
	list(sheaf.ColumnTag, text("tea/green"))
	list(sheaf.ColumnTenant, text("t1"))
	return c
}

// TestDocuments compares documents with a golden file, and checks that Vespa can read them.
func TestDocuments(t *testing.T) {
	s := unconnected(t)
	c := chunk()
	put, change := s.document(&c, "TOKEN"), update(&c)
	var out bytes.Buffer
	for _, body := range []object{put, change} {
		text := must.Get(json.MarshalIndent(body, "", "  "))
		out.Write(append(text, '\n'))
	}
	fmt.Fprintln(&out, s.path(c.ID))
	golden(t, "documents.txt", out.String())

	t.Run("Vespa accepts", func(t *testing.T) {
		j := classes(t)
		dir := written(t, testOptions(t))
		id := "id:sheaf:notes::" + storekit.Hash(string(c.ID))
		var got struct{ Fields map[string]string }
		j.accept(t, object{"do": "document", "dir": dir, "id": id, "body": put}, &got)
		fields := put["fields"].(object)
		check.That(t, len(got.Fields) == len(fields), "Vespa reads %d fields of %d", len(got.Fields), len(fields))
		var updated struct{ Fields int }
		j.accept(t, object{"do": "document", "dir": dir, "id": id, "update": true, "body": change}, &updated)
		fields = change["fields"].(object)
		check.That(t, updated.Fields == len(fields), "Vespa reads %d updates of %d", updated.Fields, len(fields))
		for _, v := range hostileTexts {
			if v == "" {
				continue
			}
			c := storetest.Chunk("t:"+v+"#"+v, "title", v, "body", v)
			for _, name := range []string{v, sheaf.ColumnAccess, sheaf.ColumnSet, sheaf.ColumnTag, sheaf.ColumnTenant,
				"onyx.relationships"} {
				c.Columns = append(c.Columns, store.Column{Name: name,
					Values: []sheaf.Value{text(v), text(v + "__" + v + "__" + v)}})
			}
			j.accept(t, object{"do": "document", "dir": dir, "id": "id:sheaf:notes::" + storekit.Hash(string(c.ID)),
				"body": s.document(&c, "TOKEN")}, nil)
		}
	})
}

// TestApplication compares the application package with golden files.
func TestApplication(t *testing.T) {
	files := must.Get(testOptions(t).Application())
	for name, text := range files {
		golden(t, "application_"+strings.NewReplacer("/", "_").Replace(name), text)
	}
	check.Equal(t, len(files), 5, "files")
}
