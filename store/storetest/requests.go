package storetest

import (
	"time"

	"sheaf"
	"sheaf/store"
)

// Named is a request with a description for tests.
type Named struct {
	Name    string
	Request store.Request
}

// Requests returns one request for each feature of requests. Vectors have three dimensions.
func Requests() []Named {
	text := sheaf.TextValue
	day := func(n int) sheaf.Value { return sheaf.DateValue(time.Date(2024, 1, n, 0, 0, 0, 0, time.UTC)) }
	with := func(f sheaf.Filter) store.Request {
		r := Words(sheaf.Match{Text: "tea"})
		r.Filter = f
		return r
	}
	best := Words(sheaf.Match{Text: "green tea"})
	best.Text.Combine, best.Text.TieBreaker = store.CombineBest, 0.3
	virtual := Words(sheaf.Match{Text: "green tea"})
	virtual.Text.Combine = store.CombineBM25F
	candidates := with(sheaf.Exists{Column: "tag"})
	candidates.Text.Statistics = store.StatisticsCandidates
	within := with(nil)
	within.Within = []sheaf.ID{"notes:a.md", "notes:b.md#c"}
	near := store.Request{Limit: 10, Vector: &store.VectorRequest{Field: "body", Vector: []float32{0.6, 0.8, 0}}}
	nearer := near
	nearer.Filter, nearer.Vector = sheaf.Exists{Column: "date"},
		&store.VectorRequest{Field: "title", Vector: []float32{0, 0, 1}, Candidates: 500}
	access := sheaf.And{sheaf.Not{Filter: sheaf.In{Column: "onyx.hidden", Values: []sheaf.Value{sheaf.BoolValue(true)}}},
		sheaf.In{Column: sheaf.ColumnTenant, Values: []sheaf.Value{text("T1")}},
		sheaf.In{Column: sheaf.ColumnAccess, Values: []sheaf.Value{text(sheaf.AccessPublic),
			text("user_email:Ann@example.org"), text("group:a b,'c'")}}}
	return []Named{
		{"words", Words(sheaf.Match{Text: "green tea"})},
		{"best field", best},
		{"a virtual field", virtual},
		{"statistics over candidates", candidates},
		{"a word twice and a boost", Words(sheaf.Bool{Should: []sheaf.TextQuery{sheaf.Match{Text: "tea tea"},
			sheaf.Boost{Query: sheaf.Match{Text: "oolong"}, Factor: 0.5}}})},
		{"must, should and must not", Words(sheaf.Bool{Must: []sheaf.TextQuery{sheaf.Match{Text: "tea"},
			sheaf.Match{Text: "leaf bud"}}, Should: []sheaf.TextQuery{sheaf.Match{Text: "steamed"}},
			MustNot: []sheaf.TextQuery{sheaf.Match{Text: "coffee"}}})},
		{"everything but", Words(sheaf.Bool{MustNot: []sheaf.TextQuery{sheaf.Match{Text: "coffee"}}})},
		{"a field", Words(sheaf.Match{Text: "tea", Field: sheaf.FieldPath})},
		{"terms of other characters", Words(sheaf.Match{Text: "naïve café C++ zebra zzz"})},
		{"phrase", Words(sheaf.Phrase{Text: "green tea leaf", Slop: 1})},
		{"prefix", Words(sheaf.Prefix{Text: "oo"})},
		{"fuzzy", Words(sheaf.Fuzzy{Text: "olong", Distance: 1})},
		{"vector", near},
		{"vector with a filter", nearer},
		{"within", within},
		{"access", with(access)},
		{"in", with(sheaf.In{Column: "tag", Values: []sheaf.Value{text("a"), sheaf.NumberValue(1), {}}})},
		{"in nothing", with(sheaf.Not{Filter: sheaf.In{Column: "tag"}})},
		{"dates", with(sheaf.Range{Column: "date", Min: day(1), Max: day(2), MaxOpen: true})},
		{"numbers below 0", with(sheaf.Range{Column: "prop.x", Max: sheaf.NumberValue(-0.5)})},
		{"texts in a range", with(sheaf.Range{Column: "tag", Min: text("a"), Max: text("b")})},
		{"prefix of a column", with(sheaf.HasPrefix{Column: "path", Prefix: "Notes/ä"})},
		{"nested", with(sheaf.Or{sheaf.And{sheaf.Exists{Column: "a"},
			sheaf.Not{Filter: sheaf.Or{sheaf.Exists{Column: "b"}, sheaf.Exists{Column: "c"}}}}, sheaf.Not{Filter: sheaf.And{}},
			sheaf.Or{}})},
	}
}

// Library returns a batch that replaces one document by two chunks. The two chunks have every feature of chunks.
func Library() store.Batch {
	number, text := sheaf.NumberValue, sheaf.TextValue
	one := Chunk("notes:a.md", "title", "Green Tea", "body", "Green tea is steamed: the leaf, a bud. Naïve oolong.",
		"path", "notes a.md")
	one.Columns = []store.Column{{Name: "date",
		Values: []sheaf.Value{sheaf.DateValue(time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC))}},
		{Name: "path", Values: []sheaf.Value{text("Notes/ä/a.md")}}, {Name: "prop.x", Values: []sheaf.Value{number(-1.5)}},
		{Name: "tag", Values: []sheaf.Value{text("a"), number(1)}}}
	one.Vectors = []store.Vectors{{Name: "body", Passages: [][]float32{{0.6, 0.8, 0}, {0, 1, 0}}},
		{Name: "title", Passages: [][]float32{{0, 0, 1}}}}
	two := Chunk("notes:a.md#coffee", "title", "Coffee", "body", "coffee \"and\" tea\\")
	two.Doc = one.Doc
	return store.Batch{Replace: []sheaf.ID{one.Doc}, Chunks: []store.Chunk{one, two}}
}
