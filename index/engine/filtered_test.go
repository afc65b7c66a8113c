package engine

import (
	"fmt"
	"testing"

	"sheaf/index/engine/segment"
)

// TestFilterKeys: filters that let other chunks through are not taken for each other.
func TestFilterKeys(t *testing.T) {
	text := func(s string) segment.Value { return segment.Value{Kind: 't', IsText: true, Text: s} }
	number := func(kind byte, x float64) segment.Value { return segment.Value{Kind: kind, Number: x} }
	in := func(column string, values ...segment.Value) In { return In{column, values} }
	low, high, open := &segment.Bound{Value: number('n', 1)}, &segment.Bound{Value: number('n', 2)},
		&segment.Bound{Value: number('n', 1), Open: true}
	known := map[string]string{}
	for _, f := range []Filter{
		And{}, Or{}, And{Or{}}, Or{And{}}, Not{And{}}, Not{Or{}}, Not{Not{Or{}}}, And{Or{}, Or{}}, And{Or{Or{}}},
		Exists{""}, Exists{"a"}, Exists{"aa"}, And{Exists{"a"}, Exists{"b"}}, And{Exists{"b"}, Exists{"a"}},
		Or{Exists{"a"}, Exists{"b"}}, And{Exists{"a?b"}},
		in("a"), in("a", text("")), in("a", text("b")), in("a", text("b"), text("c")), in("a", text("b\x01c")),
		in("ab", text("c")), in("a", number('n', 1)), in("a", number('d', 1)),
		HasPrefix{"a", text("b")}, HasPrefix{"a", number('n', 1)}, HasPrefix{"ab", text("")},
		Range{"a", 'n', low, nil}, Range{"a", 'n', nil, low}, Range{"a", 'n', low, high}, Range{"a", 'n', open, nil},
		Range{"a", 'd', low, nil}, Range{"b", 'n', low, nil},
	} {
		key, what := string(f.appendKey(nil)), fmt.Sprintf("%#v", f)
		if other, ok := known[key]; ok {
			t.Errorf("%s has the key of %s", what, other)
		}
		known[key] = what
	}
}

// TestFiltersRemembered: a filter that is used all the time stays remembered among many that
// are used once, and no more are remembered than may be.
func TestFiltersRemembered(t *testing.T) {
	var f filters
	used := &filtered{}
	f.put([]byte("used"), used)
	for i := range 10 * mostFilters {
		f.put(fmt.Append(nil, i), &filtered{})
		if f.get([]byte("used")) != used {
			t.Fatalf("it is forgotten after %d others", i)
		}
		if n := len(f.now) + len(f.before); n > 2*mostFilters {
			t.Fatalf("%d filters are remembered", n)
		}
	}
	if f.get([]byte("0")) != nil {
		t.Error("a filter that was used once is still remembered")
	}
}
