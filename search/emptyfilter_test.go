package search_test

import (
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
	language "sheaf/text/query"
)

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
		store.Column{Name: "prop.note", Values: texts(long)}, store.Column{Name: sheaf.ColumnFolder, Values: texts("")})
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
		q := language.Parse(text, language.Options{Look: func(name string) (bool, bool) { return name == "status", true }})
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
