package engine

import (
	"fmt"
	"testing"

	"sheaf"
	"sheaf/internal/check"
)

// TestFilterKeys checks that filters which allow different chunks have different keys.
func TestFilterKeys(t *testing.T) {
	text, number := sheaf.TextValue, sheaf.NumberValue
	in := func(column string, values ...sheaf.Value) sheaf.In { return sheaf.In{Column: column, Values: values} }
	exists := func(column string) sheaf.Filter { return sheaf.Exists{Column: column} }
	none, date := sheaf.Value{}, sheaf.Value{Kind: sheaf.KindDate, Number: 1}
	known := map[string]string{}
	for _, f := range []sheaf.Filter{
		sheaf.And{}, sheaf.Or{}, sheaf.And{sheaf.Or{}}, sheaf.Or{sheaf.And{}}, sheaf.Not{Filter: sheaf.And{}},
		sheaf.Not{Filter: sheaf.Not{Filter: sheaf.Or{}}}, sheaf.And{sheaf.Or{}, sheaf.Or{}}, sheaf.And{sheaf.Or{sheaf.Or{}}},
		exists(""), exists("a"), exists("aa"), sheaf.And{exists("a"), exists("b")}, sheaf.And{exists("b"), exists("a")},
		sheaf.Or{exists("a"), exists("b")}, sheaf.And{exists("a?b")},
		in("a"), in("a", text("")), in("a", text("b")), in("a", text("b"), text("c")), in("a", text("b\x01c")),
		in("ab", text("c")), in("a", number(1)), in("a", date), in("a", none),
		sheaf.HasPrefix{Column: "a", Prefix: "b"}, sheaf.HasPrefix{Column: "ab"},
		sheaf.Range{Column: "a", Min: number(1)}, sheaf.Range{Column: "a", Max: number(1)},
		sheaf.Range{Column: "a", Min: number(1), Max: number(2)},
		sheaf.Range{Column: "a", Min: number(1), MinOpen: true}, sheaf.Range{Column: "a", Max: number(1), MaxOpen: true},
		sheaf.Range{Column: "a", Min: date}, sheaf.Range{Column: "b", Min: number(1)}, sheaf.Range{Column: "a"},
	} {
		key, what := string(appendKey(nil, f)), fmt.Sprintf("%#v", f)
		other, ok := known[key]
		check.That(t, !ok, "%s has the key of %s", what, other)
		known[key] = what
	}
}
