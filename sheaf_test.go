package sheaf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

type columns map[string][]sheaf.Value

func (c columns) Values(name string) []sheaf.Value { return c[name] }

func TestFilters(t *testing.T) {
	day := func(d int) sheaf.Value { return sheaf.DateValue(time.Date(2024, 1, d, 0, 0, 0, 0, time.UTC)) }
	c := columns{
		"tag":  {sheaf.TextValue("red"), sheaf.TextValue("blue")},
		"n":    {sheaf.NumberValue(3)},
		"date": {day(5)},
		"ok":   {sheaf.BoolValue(true)},
	}
	in := func(column string, values ...sheaf.Value) sheaf.Filter {
		return sheaf.In{Column: column, Values: values}
	}
	for i, f := range []struct {
		filter sheaf.Filter
		want   bool
	}{
		{sheaf.And{}, true}, {sheaf.Or{}, false},
		{in("tag", sheaf.TextValue("blue")), true}, {in("tag", sheaf.TextValue("Blue")), false}, {in("tag"), false},
		{in("n", sheaf.TextValue("3")), false}, {in("ok", sheaf.NumberValue(1)), false},
		{in("ok", sheaf.BoolValue(true)), true},
		{sheaf.Range{Column: "n", Min: sheaf.NumberValue(3)}, true},
		{sheaf.Range{Column: "n", Min: sheaf.NumberValue(3), MinOpen: true}, false},
		{sheaf.Range{Column: "n", Max: sheaf.NumberValue(3)}, true},
		{sheaf.Range{Column: "n", Max: sheaf.NumberValue(3), MaxOpen: true}, false},
		{sheaf.Range{Column: "n"}, false}, {sheaf.Range{Column: "n", Min: sheaf.NumberValue(1), Max: day(9)}, false},
		{sheaf.Range{Column: "date", Min: day(5), Max: day(5)}, true},
		{sheaf.Range{Column: "tag", Min: sheaf.TextValue("c")}, true},
		{sheaf.Exists{Column: "n"}, true}, {sheaf.Exists{Column: "none"}, false},
		{sheaf.HasPrefix{Column: "tag", Prefix: "bl"}, true}, {sheaf.HasPrefix{Column: "n", Prefix: "3"}, false},
		{sheaf.Not{Filter: in("tag", sheaf.TextValue("green"))}, true},
		{sheaf.And{sheaf.Exists{Column: "n"}, sheaf.Or{sheaf.Exists{Column: "x"}, sheaf.Exists{Column: "ok"}}}, true},
	} {
		check.Equal(t, f.filter.Match(c), f.want, "filter %d %#v", i, f.filter)
	}
}

func TestValues(t *testing.T) {
	check.That(t, sheaf.NumberValue(math.NaN()).IsZero() &&
		sheaf.NumberValue(math.Copysign(0, -1)) == sheaf.NumberValue(0), "NaN is a value, or -0 differs from 0")
	list := []sheaf.Value{sheaf.TextValue("b"), sheaf.NumberValue(2), sheaf.BoolValue(true), sheaf.TextValue("a"),
		sheaf.NumberValue(-1), sheaf.DateValue(time.Unix(9, 0)), sheaf.BoolValue(false)}
	slices.SortFunc(list, sheaf.Value.Compare)
	got, err := json.Marshal(append(list, sheaf.Value{}, sheaf.NumberValue(math.Inf(1)),
		sheaf.DateValue(time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC))))
	want := `["a","b",-1,2,"1970-01-01T00:00:09Z",false,true,null,null,"2024-05-01"]`
	check.That(t, err == nil && string(got) == want, "%s, %v", got, err)
}

func TestIDs(t *testing.T) {
	doc := sheaf.DocumentID("notes", "a/b.md")
	c := sheaf.ChunkID(doc, "x")
	check.That(t, c == "notes:a/b.md#x" && c.Tree() == "notes" && sheaf.ID("plain").Tree() == "", "%s", c)
	s := (sheaf.Span{Start: 2, End: 9})
	check.That(t, s.Len() == 7 && s.Contains(sheaf.Span{Start: 2, End: 9}) && !s.Contains(sheaf.Span{Start: 1, End: 3}),
		"span")
}

// TestRankingOrder checks the order: by score, then best rank in any leg, then earlier leg, then ID.
func TestRankingOrder(t *testing.T) {
	leg := func(ranks ...int) (legs []sheaf.Leg) {
		for _, r := range ranks {
			legs = append(legs, sheaf.Leg{Rank: r})
		}
		return legs
	}
	r := sheaf.Ranking{{ID: "d", Score: 1}, {ID: "c", Score: 1, Legs: leg(0, 4)}, {ID: "b", Score: 1, Legs: leg(5, 2)},
		{ID: "a", Score: 2}, {ID: "e", Score: 1, Legs: leg(2, 9)}}
	r.Sort()
	got := ""
	for _, h := range r {
		got += string(h.ID)
	}
	check.Equal(t, got, "aebcd", "order")
	check.Is(t, (sheaf.Ranking{{ID: "x", Score: math.NaN()}}).Valid("the store"), sheaf.ErrInvalid, "NaN")
}

func TestRecombine(t *testing.T) {
	leaf := func(v float64) sheaf.Explanation { return sheaf.Explanation{Value: v} }
	for combine, want := range map[sheaf.Combine]float64{
		sheaf.CombineSum: 9, sheaf.CombineProduct: 24, sheaf.CombineMax: 4, sheaf.CombineRSS: math.Sqrt(4 + 9 + 16),
		sheaf.CombineNone: 7,
	} {
		e := sheaf.Explanation{Value: 7, Combine: combine, Parts: []sheaf.Explanation{leaf(2), leaf(3), leaf(4)}}
		got := e.Recombine()
		check.That(t, math.Abs(got-want) <= 1e-12, "%q: %v, want %v", combine, got, want)
	}
}

// TestErrorTable checks that each category of error has its exit status.
func TestErrorTable(t *testing.T) {
	for _, c := range []struct {
		err  error
		exit int
	}{
		{nil, 0}, {sheaf.Invalidf("limit is %d", 0), 2}, {fmt.Errorf("x: %w", sheaf.ErrUnsupported), 2},
		{sheaf.ErrNotFound, 3},
		{sheaf.ErrUnavailable, 4}, {sheaf.ErrCorrupt, 5}, {fs.ErrPermission, 6},
	} {
		check.Equal(t, sheaf.ExitCode(c.err), c.exit, "exit status of %v", c.err)
	}
	err := sheaf.Invalidf("bad: %w", context.Canceled)
	check.That(t, errors.Is(err, context.Canceled) && err.Error() == "invalid: bad: context canceled", "%v", err)
}

func ExampleFilter() {
	f := sheaf.And{
		sheaf.In{Column: sheaf.ColumnTag, Values: []sheaf.Value{sheaf.TextValue("howto")}},
		sheaf.Not{Filter: sheaf.Exists{Column: sheaf.PropertyColumn("Draft")}},
	}
	fmt.Println(f.Match(columns{"tag": {sheaf.TextValue("howto")}}))
	fmt.Println(f.Match(columns{"tag": {sheaf.TextValue("howto")}, "prop.draft": {sheaf.BoolValue(true)}}))
	// Output:
	// true
	// false
}

// TestPathsInIDs checks that any path becomes a unique ID of valid UTF-8, which returns the path.
func TestPathsInIDs(t *testing.T) {
	seen := map[sheaf.ID]string{}
	for _, p := range []string{"a.md", "a:b#c.md", "ü/ñ.md", "b\xff.md", "b\xff\xfe.md", "b\ufffd.md", "b\ufffdFF.md",
		"\ufffd", "\xff", "\xe2\x82", "%FF.md", "100%"} {
		id := sheaf.DocumentID("t", p)
		other, ok := seen[id]
		check.That(t, !ok, "%q and %q are both %q", p, other, id)
		seen[id] = p
		if !utf8.ValidString(string(id)) || id.Path() != p || id.Tree() != "t" {
			t.Errorf("%q becomes %q and back %q", p, id, id.Path())
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := string(rapid.SliceOf(rapid.SampledFrom([]byte("aF%0\xff\xef\xbf\xbd\xc3"))).Draw(t, "path"))
		if id := sheaf.DocumentID("t", p); !utf8.ValidString(string(id)) || id.Path() != p {
			t.Fatalf("%q becomes %q and back %q", p, id, id.Path())
		}
		_ = sheaf.ID("t:" + p).Path() // any text is allowed
	})
}

// TestPartsOfQueries checks that Wanted and Forbidden look into groups and boosts.
func TestPartsOfQueries(t *testing.T) {
	a, b, c, d := sheaf.Match{Text: "a"}, sheaf.Phrase{Text: "b"}, sheaf.Prefix{Text: "c"}, sheaf.Match{Text: "d"}
	q := sheaf.Boost{Factor: 2, Query: sheaf.Bool{Must: []sheaf.TextQuery{a, sheaf.Boost{Query: b, Factor: 3}},
		Should:  []sheaf.TextQuery{sheaf.Bool{MustNot: []sheaf.TextQuery{d}}, c},
		MustNot: []sheaf.TextQuery{sheaf.Bool{Must: []sheaf.TextQuery{a, c}}}}}
	var got []string
	for part, factor := range sheaf.Wanted(q) {
		got = append(got, fmt.Sprintf("%T %v", part, factor))
	}
	want := "[sheaf.Match 2 sheaf.Phrase 6 sheaf.Bool 2 sheaf.Prefix 2]"
	check.That(t, fmt.Sprint(got) == want, "wanted: %v, want %s", got, want)
	if got := sheaf.Forbidden(q); len(got) != 2 || got[1] != sheaf.TextQuery(d) {
		t.Errorf("forbidden: %v", got)
	}
	for part := range sheaf.Wanted(nil) {
		t.Errorf("wanted of nothing: %v", part)
	}
}

// TestNumbersInJSON checks that a number in JSON keeps its digits. A number with an exponent has no digits to keep.
func TestNumbersInJSON(t *testing.T) {
	for _, c := range [][2]string{{"12.10", "12.10"}, {"1234567890123456789", "1234567890123456789"}, {"1e3", "1000"},
		{"12", "12"}, {"0.50", "0.50"}} {
		var v sheaf.Value
		must.Do(t, json.Unmarshal([]byte(c[0]), &v))
		check.That(t, v.Kind == sheaf.KindNumber && v.String() == c[1], "%s: %+v", c[0], v)
		check.Equal(t, string(must.Get(json.Marshal(v))), c[1], "JSON of %s", c[0])
	}
}
