package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	words "sheaf/text/query"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// TestPhraseInAnyCase checks that the case of a phrase does not change how much it counts.
func TestPhraseInAnyCase(t *testing.T) {
	docs := map[string][]string{"small.md": {"A: the github pages of us"}, "capitals.md": {"A: the GitHub Pages of us"}}
	for i := range 20 {
		docs[fmt.Sprintf("%02d.md", i)] = []string{"A: git hub and pages"}
	}
	s := inEngine(t, newShelf(docs), "en")
	for _, tt := range []struct{ text, first, second string }{
		{`"github pages"`, "t:small.md#A", "t:capitals.md#A"},
		{`"GitHub Pages"`, "t:small.md#A", "t:capitals.md#A"},
		{`+GitHub`, "t:small.md#A", "t:capitals.md#A"}, // only the whole word counts, so the shorter text is first
		{`-"GitHub Pages" +us`, "", ""},
	} {
		r := mustSearch(t, s, words.Parse(tt.text, words.Options{Limit: 5}), load(t, "sheaf"), search.Options{Evidence: true})
		if tt.first == "" {
			if len(r.Hits) > 0 {
				t.Errorf("%s found %s", tt.text, r.Hits[0].ID)
			}
			continue
		}
		must.That(t, len(r.Hits) == 2 && string(r.Hits[0].ID) == tt.first && string(r.Hits[1].ID) == tt.second,
			"%s: %v", tt.text, found(r))
		for i, h := range r.Hits {
			e := h.Evidence
			check.That(t, e.Words <= 0.6 && (i != 0 || e.Words >= 0.15), "%s: %s has words worth %.2f", tt.text, h.ID, e.Words)
		}
	}
}

// TestPhraseOfNames checks that a phrase of many names is found in any case.
func TestPhraseOfNames(t *testing.T) {
	const names = "GitHub YouTube LinkedIn PayPal MacBook"
	small := strings.ToLower(names)
	s := inEngine(t, newShelf(map[string][]string{"capitals.md": {"A: on " + names + " too"},
		"small.md": {"A: on " + small + " too"}}), "en")
	for _, text := range []string{names, small, strings.ToUpper(names)} {
		r := mustSearch(t, s, words.Parse(`"`+text+`"`, words.Options{Limit: 5}), load(t, "rrf"), search.Options{})
		check.Equal(t, len(r.Hits), 2, "%s: found %v", text, found(r))
	}
}

// noPhrases is a store without phrases.
type noPhrases struct{ *memory.Backend }

func (n noPhrases) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if req.Text != nil {
		if _, ok := req.Text.Query.(sheaf.Phrase); ok {
			return nil, fmt.Errorf("%w: phrases", sheaf.ErrUnsupported)
		}
	}
	return n.Backend.Retrieve(ctx, req)
}

// TestAdjacentWordsRankFirst checks that a document with the query's words side by side ranks before one
// with the same words apart. On a store without phrases only words count, and a note says so.
func TestAdjacentWordsRankFirst(t *testing.T) {
	notes := newShelf(map[string][]string{
		"a.md": {"First: trees were planted by the old wall where apple pips fell", "Second: soil"},
		"b.md": {"First: pips fell by the old wall where apple trees were planted", "Second: soil"},
		"c.md": {"First: stones", "Second: stones"}, "d.md": {"First: walls", "Second: water"},
		"e.md": {"First: paths", "Second: gates"},
	})
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	st := memory.New(a)
	must.Do(t, st.Write(context.Background(), store.Batch{Chunks: notes.stored}))
	p := load(t, "sheaf")
	ask := func(b store.Backend, strength string) (*search.Result, map[string]string) {
		s := &search.Searcher{Backend: b, Store: "shelf", Facts: notes, Analyzer: a}
		r := mustSearch(t, s, query("apple trees", 5), p,
			search.Options{Explain: true, Trace: true, Parameters: map[string]string{"pairs": strength}})
		why := map[string]string{}
		for _, h := range r.Hits {
			checkReason(t, string(h.ID), h.Score, h.Explanation)
			why[h.Path] += fmt.Sprintf("%+v", *h.Explanation)
		}
		return r, why
	}
	scores := func(r *search.Result) (a, b float64) {
		at := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return h.Path == "a.md" })
		bt := slices.IndexFunc(r.Hits, func(h search.Hit) bool { return h.Path == "b.md" })
		must.That(t, at >= 0 && bt >= 0, "found %v", found(r))
		return r.Hits[at].Score, r.Hits[bt].Score
	}
	const pair = `"apple trees"`
	r, why := ask(st, "0.4")
	x, y := scores(r)
	check.That(t, y >= x+0.39 && r.Hits[0].Path == "b.md", "apart %v, side by side %v", x, y)
	check.That(t, !strings.Contains(why["a.md"], pair) && strings.Contains(why["b.md"], pair), "explained by %s\nand %s",
		why["a.md"], why["b.md"])
	quoted := query("", 5)
	quoted.Words = sheaf.Phrase{Text: "apple trees"}
	s := &search.Searcher{Backend: st, Store: "shelf", Facts: notes, Analyzer: a}
	phrase := mustSearch(t, s, quoted, p, search.Options{Parameters: map[string]string{"pairs": "0.4"}})
	if _, y := scores(r); phrase.Hits[0].Path != "b.md" || phrase.Hits[0].Score < y {
		t.Errorf("quotes give %s %v, the same words without quotes %v", phrase.Hits[0].Path, phrase.Hits[0].Score, y)
	}
	r, _ = ask(st, "0")
	check.That(t, len(r.Notes) <= 1, "notes %q", r.Notes)
	x, y = scores(r)
	check.That(t, x == y, "without pairs: apart %v, side by side %v", x, y)
	r, _ = ask(noPhrases{st}, "0.4")
	if x, y := scores(r); x != y || r.Degraded ||
		!slices.ContainsFunc(r.Notes, func(n string) bool {
			return strings.Contains(n, "shelf cannot look for words side by side")
		}) {
		t.Errorf("without phrases: apart %v, side by side %v; degraded %t, notes %q", x, y, r.Degraded, r.Notes)
	}
	for _, s := range r.Trace {
		check.Equal(t, strings.Contains(strings.Join(s.Notes, "\n"), "side by side"), strings.HasPrefix(s.Step,
			"word_pairs"), "step %s notes %q", s.Step, s.Notes)
	}
}

// askedStore counts requests by vector, and the chunks that these requests are limited to.
type askedStore struct {
	*memory.Backend
	vectors, within int
}

func (s *askedStore) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	if req.Vector != nil {
		s.vectors++
		s.within += len(req.Within)
	}
	return s.Backend.Retrieve(ctx, req)
}

// TestMustMatchByMeaning checks that a search by meaning ranks only chunks with the required words.
func TestMustMatchByMeaning(t *testing.T) {
	docs := map[string][]string{"far.md": {"Stone: the old wall of stone stone stone",
		"Tree: old walls of wood tree tree"}, "near.md": {"Cat: the old wall and its cat cat"}}
	for i := range 60 {
		docs[fmt.Sprintf("cat%02d.md", i)] = []string{"Cat: cat cat cat"}
	}
	notes := newShelf(docs)
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	st := &askedStore{Backend: memory.New(a)}
	must.Do(t, st.Write(context.Background(), store.Batch{Chunks: notes.stored}))
	s := searcher(notes)
	s.Backend, s.Analyzer = st, a
	for _, tt := range []struct {
		text string
		want string
	}{
		{`cat "old wall"`, "t:near.md#Cat:1 t:far.md#Tree:2 t:far.md#Stone:3"},
		{`cat +wall -tree`, "t:near.md#Cat:1 t:far.md#Stone:2"},
		{`cat title:stone`, "t:far.md#Stone:1"},
		{`cat "no such wall"`, ""},
	} {
		st.vectors, st.within = 0, 0
		q := words.Parse(tt.text, words.Options{Limit: 5})
		got := ""
		for _, h := range mustSearch(t, s, q, load(t, "rrf"), search.Options{}).Hits {
			got += fmt.Sprintf(" %s:%d", h.ID, h.Legs[0].Rank)
		}
		if got != "" {
			got = got[1:]
		}
		check.Equal(t, got, tt.want, "%s: a hit with its rank by meaning", tt.text)
	}
	// WhyNot explains why a chunk with a forbidden word is missing.
	for text, want := range map[string]string{
		`wall -tree`:           `text: the words of the query do not match it; it holds "tree", which the query leaves out`,
		`cat -tree -stone`:     `vector: it scores 0.1273 and holds "tree", which the query leaves out`,
		`cat -"walls of"`:      `holds "walls of", which the query leaves out`,
		`wall -title:tree`:     `holds "tree" in its title, which the query leaves out`,
		`+wall -(tree stump)`:  `it holds "tree", which the query leaves out`,
		`+cat -(+tree +stump)`: `does not match the required words`,
		`+cat -(tree -wood)`:   `does not match the required words`,
		`+cat (wall -wood*)`:   `it lacks "cat"; it holds "wood*", which the query leaves out`,
	} {
		a := must.Get(s.WhyNot(t.Context(), words.Parse(text, words.Options{Limit: 5}), load(t, "rrf"), search.Options{},
			"t:far.md#Tree"))
		got := strings.Join(a.Reasons, "\n")
		check.That(t, strings.Contains(got, want), "%s: %s\nwant %s", text, got, want)
	}
}

// TestEqualNameWithOperators checks that a name equal to the query counts, whatever query operators surround it.
func TestEqualNameWithOperators(t *testing.T) {
	s, p := searcher(newShelf(map[string][]string{
		"dogs.md":  {"Food: a dog eats meat", "Walk: the dog runs around a tree"},
		"walks.md": {"Walk (long): the dog runs around a stone"},
	})), load(t, "sheaf")
	for _, tt := range []struct {
		text, meaning string
		want          string
	}{
		{"walk", "walk", "Walk"}, {" Walk ", "", "Walk"}, {`"walk"`, "walk", "Walk"}, {"walk -meat path:x/", "walk", "Walk"},
		{"walk well", "walk well", ""}, {"cat -walk", "cat", ""}, {"walk path:x/", "", ""},
		// The typed text may be a name that contains operators.
		{"Walk (long)", "Walk long", "Walk (long)"}, {" walk  (LONG) ", "walk LONG", "Walk (long)"},
		{"(walk long)", "walk long", ""},
	} {
		q := sheaf.Query{Text: tt.text, Meaning: tt.meaning, Words: sheaf.Match{Text: "dog runs"}, Limit: 9}
		got := ""
		for _, h := range mustSearch(t, s, q, p, search.Options{Explain: true}).Hits {
			told := must.Get(json.Marshal(h.Explanation))
			if strings.Contains(string(told), "equals the query") {
				got += h.Title
			}
		}
		check.Equal(t, got, tt.want, "%q, with the meaning %q: the equal name", tt.text, tt.meaning)
	}
}

// countedStore counts requests.
type countedStore struct {
	*memory.Backend
	requests int
}

func (s *countedStore) Retrieve(ctx context.Context, req store.Request) (sheaf.Ranking, error) {
	s.requests++
	return s.Backend.Retrieve(ctx, req)
}

// filled returns a searcher of documents with these numbers of sections, in a store that can filter.
func filled(t *testing.T, sections ...int) (*search.Searcher, *countedStore) {
	t.Helper()
	docs := map[string][]string{}
	for i, n := range sections {
		path := fmt.Sprintf("d%03d.md", i)
		docs[path] = nil
		for k := range n {
			docs[path] = append(docs[path], fmt.Sprintf("Section %d: a cat", k))
		}
	}
	a := must.Get(analysis.New(analysis.Options{}))
	shelf, st := newShelf(docs), &countedStore{Backend: memory.New(a)}
	must.Do(t, st.Write(t.Context(), store.Batch{Chunks: shelf.stored}))
	s := searcher(shelf)
	s.Backend = st
	return s, st
}

// listing returns a query for everything, and a query for all chunks without the word "dog".
func listing(limit int) []sheaf.Query {
	every := sheaf.Exists{Column: sheaf.ColumnDoc}
	return []sheaf.Query{
		{Text: "tag:x", Words: sheaf.Bool{}, Filter: every, Limit: limit},
		{Text: "-dog", Words: sheaf.Bool{MustNot: []sheaf.TextQuery{sheaf.Match{Text: "dog"}}}, Limit: limit},
	}
}

// TestFilterQueryListsDocuments checks that a query without words lists the documents that match its filter, in the
// order of their IDs. A branch retrieves 1,000 chunks at once, so that a long document does not fill the list.
func TestFilterQueryListsDocuments(t *testing.T) {
	many := slices.Repeat([]int{1}, 31)
	many[0], many[5] = 300, 400
	for name, most := range map[string]int{"sheaf": 3, "sonar": 1, "bench": 1} {
		for _, limit := range []int{20, 200} {
			s, store := filled(t, many...)
			for _, q := range listing(limit) {
				before := store.requests
				r := mustSearch(t, s, q, load(t, name), search.Options{Trace: true})
				shown, docs := map[sheaf.ID]int{}, []sheaf.ID{}
				for _, h := range r.Hits {
					if shown[h.Doc]++; shown[h.Doc] == 1 {
						docs = append(docs, h.Doc)
					}
					check.That(t, shown[h.Doc] <= most, "%s, %s: %s is there %d times", name, q.Text, h.Doc, shown[h.Doc])
				}
				if limit == 200 && (len(docs) != len(many) || r.More) || limit == 20 && (len(r.Hits) != 20 || !r.More) {
					t.Errorf("%s, %s, %d: %d results of %d documents, more: %v", name, q.Text, limit, len(r.Hits), len(docs), r.More)
				}
				// A second request looks for forbidden words in sub-sections.
				requests := 1 + len(sheaf.Forbidden(q.Words))
				if n := store.requests - before; !slices.IsSorted(docs) || n > requests || r.Degraded {
					t.Errorf("%s, %s, %d: %v with %d requests, %v", name, q.Text, limit, docs, n, r.Warnings)
				}
				last := docs[len(docs)-1]
				why, err := s.WhyNot(t.Context(), q, load(t, name), search.Options{}, last)
				check.That(t, err == nil && (why.Rank != 0 || strings.Contains(fmt.Sprint(why.Reasons), "rank")),
					"%s, %s: why not %s: %+v, %v", name, q.Text, last, why, err)
			}
		}
	}
}

// TestNoteWhenOneDocumentFillsList checks that a note is added when one document fills all 1,000 retrieved chunks.
func TestNoteWhenOneDocumentFillsList(t *testing.T) {
	s, _ := filled(t, 3000, 2, 2)
	r := mustSearch(t, s, listing(10)[0], load(t, "sheaf"), search.Options{})
	check.That(t, len(r.Hits) == 3 && !r.Degraded && r.More &&
		strings.Contains(fmt.Sprint(r.Notes), "per_document leaves 3 of 1000"),
		"%v, degraded: %v, more: %v, notes: %q", found(r), r.Degraded, r.More, r.Notes)
}

// TestEmptyFilter checks that the result names the existing values when no document has the wanted value.
func TestEmptyFilter(t *testing.T) {
	a := must.Get(analysis.New(analysis.Options{}))
	st := memory.New(a)
	texts := func(values ...string) []sheaf.Value {
		var out []sheaf.Value
		for _, v := range values {
			out = append(out, sheaf.TextValue(v))
		}
		return out
	}
	long := strings.Repeat("ü", 80)
	write := func(id sheaf.ID, columns ...store.Column) {
		t.Helper()
		columns = append(columns, store.Column{Name: sheaf.ColumnPath, Values: texts("cats.md")},
			store.Column{Name: sheaf.ColumnFile, Values: texts("cats.md")})
		batch := store.Batch{Chunks: []store.Chunk{{ID: id, Doc: "t:cats.md",
			Fields: []store.Field{{Name: sheaf.FieldBody, Text: "a cat"}}, Columns: columns}}}
		must.Do(t, st.Write(t.Context(), batch))
	}
	write("t:cats.md#Food", store.Column{Name: "prop.author", Values: texts("ann lee")},
		store.Column{Name: "prop.note", Values: texts(long)}, store.Column{Name: "prop.size", Values: texts(`27" wheel`)},
		store.Column{Name: sheaf.ColumnFolder, Values: texts("")})
	for i, value := range []string{"draft", "draft", "final", "open", "shut", "old", "new", "odd"} {
		write(sheaf.ID("t:cats.md#"+string(rune('A'+i))),
			store.Column{Name: "prop.status", Values: append(texts(value), sheaf.NumberValue(float64(i)))})
	}
	number := func(name, written string, n float64) {
		plain := store.Column{Name: "prop." + name, Values: []sheaf.Value{sheaf.NumberValue(n)}}
		write(sheaf.ID("t:cats.md#"+name), plain, store.Column{Name: "written." + name, Values: texts(written)})
	}
	number("cost", "12.50", 12.5)
	number("hex", "0x1F", 31)
	s, p := searcher(animals()), load(t, "rrf")
	s.Backend = st
	ask := func(text string) *search.Result {
		t.Helper()
		q := words.Parse(text, words.Options{Look: func(name string) (bool, bool) { return name == "status", true }})
		q.Limit = 5
		return mustSearch(t, s, q, p, search.Options{})
	}
	tests := []struct{ query, want string }{
		{"cat status:draft", ""},
		{"dinosaur", ""},
		{"cat status:done", `nothing has status "done"; there is "draft", "final", "new", "odd", "old", and 10 more`},
		{"cat status:finl", `nothing has status "finl"; did you mean "final"?`},
		{"status:dra*", ""},
		{"cat status:x*", `nothing has status "x*"; there is "draft", "final", "new", "odd", "old", and 10 more`},
		{"cat status:2031", `nothing has status "2031"; there is "draft", "final", "new", "odd", "old", and 10 more`},
		{"cat prop.author:ann", `nothing has author "ann"; did you mean "ann lee"?`},
		{"cat prop.author:x (prop.author:y OR tag:z)", `nothing has author "x"; there is "ann lee"` + "\n" +
			`nothing has author "y"; there is "ann lee"`},
		{"cat prop.note:" + long + long, `nothing has note "` + long[:120] + `…"; there is "` + long[:120] + `…"`},
		{"cat prop.size:29", `nothing has size "29"; there is «27" wheel»`},
		{`prop.size:«27" wheel»`, ""},
		{"cat tag:pet", `nothing has tag "pet", or any other`},
		{"cat path:kats.md", `nothing has path "kats.md"; did you mean "cats.md"?`},
		{"cat path:pets/", `nothing has path "pets"; there are no folders`},
		{"cat prop.cost:12.5", `nothing has cost "12.5"; did you mean "12.50"?`},
		{"prop.hex:0x1F", ""},
		{"cat -tag:pet", ""},
		{"cat -status:draft status:draft", ""},
		{"cat status:>99", ""},
	}
	for _, tt := range tests {
		r := ask(tt.query)
		if got := strings.Join(r.Unmet, "\n"); got != tt.want || got != "" && len(r.Hits) > 0 {
			t.Errorf("%s: found %v and said\n%s\nwant\n%s", tt.query, found(r), got, tt.want)
		}
	}
}
