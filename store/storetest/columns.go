package storetest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"sheaf"
	"sheaf/store"
)

// columns checks that facets count the matches, and that orders sort them by a column.
func columns(t *testing.T, b store.Backend) {
	faceter, facets := b.(store.Faceter)
	sorter, sorts := b.(store.Sorter)
	if !facets && !sorts {
		t.Skip("the store has neither facets nor orders by a column")
	}
	tags := func(list ...string) store.Column {
		c := store.Column{Name: "tag"}
		for _, s := range list {
			c.Values = append(c.Values, sheaf.TextValue(s))
		}
		return c
	}
	day := func(d int) store.Column {
		return column("date", sheaf.DateValue(time.Date(2024, 1, d, 0, 0, 0, 0, time.UTC)))
	}
	write(t, b,
		withColumns(Chunk("t:a", "body", "x"), tags("red", "blue"), day(3)),
		withColumns(Chunk("t:b", "body", "x x"), tags("red"), day(1), column("done", sheaf.BoolValue(true))),
		withColumns(Chunk("t:c", "body", "x y"), tags("blue", "green"), day(3), column("done", sheaf.BoolValue(false))),
		withColumns(Chunk("t:d", "body", "y"), tags("red"), day(2),
			column("n", sheaf.NumberValue(-2.5), sheaf.NumberValue(7))),
		Chunk("t:e", "body", "x"),
		withColumns(Chunk("t:f", "body", "x"), column("n", sheaf.NumberValue(0))),
	)
	x := body(sheaf.Match{Text: "x"})
	if facets {
		testFacets(t, faceter, x)
	}
	if sorts {
		testOrders(t, sorter, x)
	}
}

func testFacets(t *testing.T, b store.Faceter, x store.Request) {
	t.Helper()
	text := func(s string, n int) store.FacetValue {
		return store.FacetValue{Value: sheaf.TextValue(s), Chunks: n}
	}
	got, err := b.Facets(context.Background(), x, []string{"tag", "none", "done"}, 2)
	want := []store.Facet{
		{Column: "tag", Distinct: 3, Values: []store.FacetValue{text("blue", 2), text("red", 2)}},
		{Column: "none", Values: []store.FacetValue{}},
		{Column: "done", Distinct: 2, Values: []store.FacetValue{{Value: sheaf.BoolValue(false), Chunks: 1},
			{Value: sheaf.BoolValue(true), Chunks: 1}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("facets are %+v, %v, want %+v", got, err, want)
	}
	x.Filter = sheaf.In{Column: "tag", Values: []sheaf.Value{sheaf.TextValue("red")}}
	got, err = b.Facets(context.Background(), x, []string{"tag"}, 10)
	if err != nil || !reflect.DeepEqual(got,
		[]store.Facet{{Column: "tag", Distinct: 2, Values: []store.FacetValue{text("red", 2), text("blue", 1)}}}) {
		t.Errorf("filtered facets are %+v, %v", got, err)
	}
	near := store.Request{Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: unit(1, 0, 0, 0, 0, 0, 0, 0)}}
	if _, err := b.Facets(context.Background(), near, []string{"tag"}, 1); !errors.Is(err, sheaf.ErrUnsupported) {
		t.Errorf("facets of a vector: %v", err)
	}
	if _, err := b.Facets(context.Background(), store.Request{}, []string{"tag"}, 1); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("facets of nothing: %v", err)
	}
}

func testOrders(t *testing.T, b store.Sorter, x store.Request) {
	t.Helper()
	for _, c := range []struct {
		by    store.Order
		limit int
		want  string
	}{
		{store.Order{Column: "date"}, 10, "t:b t:a t:c t:e t:f"},
		{store.Order{Column: "date", Descending: true}, 10, "t:a t:c t:b t:e t:f"},
		{store.Order{Column: "date", Descending: true}, 1, "t:a"},
		{store.Order{Column: "date"}, 4, "t:b t:a t:c t:e"},
		{store.Order{Column: "tag"}, 10, "t:a t:c t:b t:e t:f"},
		{store.Order{Column: "tag", Descending: true}, 10, "t:a t:b t:c t:e t:f"},
		{store.Order{Column: "n"}, 2, "t:f t:a"},
		{store.Order{Column: "none"}, 3, "t:a t:b t:c"},
	} {
		x.Limit = c.limit
		got, err := b.Sorted(context.Background(), x, c.by)
		if err != nil || ids(got) != c.want {
			t.Errorf("by %+v, %d of them: %s, %v, want %s", c.by, c.limit, ids(got), err, c.want)
		}
	}
	near := store.Request{Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: unit(1, 0, 0, 0, 0, 0, 0, 0)}}
	if _, err := b.Sorted(context.Background(), near, store.Order{Column: "tag"}); !errors.Is(err, sheaf.ErrUnsupported) {
		t.Errorf("a vector's hits by a column: %v", err)
	}
}

// checkColumns compares facets and orders of two stores that support them.
func checkColumns(t *testing.T, where string, req store.Request, a, oracle store.Backend) {
	t.Helper()
	ctx := context.Background()
	names := []string{"n", "c", "many", "none"}
	if f, ok := a.(store.Faceter); ok {
		got, err := f.Facets(ctx, req, names, 3)
		want, err2 := oracle.(store.Faceter).Facets(ctx, req, names, 3)
		if err != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v %+v: facets are\n%+v, %v\nthe oracle's\n%+v, %v", where, req.Text, req.Filter, got, err, want,
				err2)
		}
	}
	s, ok := a.(store.Sorter)
	if !ok {
		return
	}
	for _, name := range names {
		for _, descending := range []bool{false, true} {
			by := store.Order{Column: name, Descending: descending}
			got, err := s.Sorted(ctx, req, by)
			want, err2 := oracle.(store.Sorter).Sorted(ctx, req, by)
			if err != nil || err2 != nil || ids(got) != ids(want) {
				t.Fatalf("%s: %+v %+v by %+v:\n%s, %v\nthe oracle's\n%s, %v", where, req.Text, req.Filter, by, ids(got), err,
					ids(want), err2)
			}
			for i := range got {
				if !near(a, got[i].Score, want[i].Score) {
					t.Fatalf("%s: %+v by %+v: %s scores %v, the oracle gives %v", where, req.Text, by, got[i].ID, got[i].Score,
						want[i].Score)
				}
			}
		}
	}
}
