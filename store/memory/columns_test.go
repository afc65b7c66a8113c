package memory_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/store/storetest"
)

// tagged returns a store of chunks with columns, and a request that finds all but t:d.
func tagged(t *testing.T) (*memory.Backend, store.Request) {
	t.Helper()
	text, number := sheaf.TextValue, sheaf.NumberValue
	day := func(n int) sheaf.Value { return sheaf.DateValue(time.Date(2024, 1, n, 0, 0, 0, 0, time.UTC)) }
	column := func(name string, values ...sheaf.Value) store.Column {
		return store.Column{Name: name, Values: values}
	}
	var batch store.Batch
	for _, c := range []struct {
		id, body string
		columns  []store.Column
	}{
		{"t:a", "x", []store.Column{column("date", day(3)), column("tag", text("red"), text("blue"))}},
		{"t:b", "x x", []store.Column{column("date", day(1)), column("done", sheaf.BoolValue(true)),
			column("tag", text("red"))}},
		{"t:c", "x y", []store.Column{column("date", day(3)), column("done", sheaf.BoolValue(false)),
			column("tag", text("blue"), text("green"))}},
		{"t:d", "y", []store.Column{column("date", day(2)), column("n", number(-2.5), number(7)),
			column("tag", text("red"))}},
		{"t:e", "x", nil},
		{"t:f", "x", []store.Column{column("n", number(0))}},
	} {
		chunk := storetest.Chunk(c.id, sheaf.FieldBody, c.body)
		chunk.Columns = c.columns
		batch.Chunks = append(batch.Chunks, chunk)
	}
	st := open(t).(*memory.Backend)
	must.Do(t, st.Write(t.Context(), batch))
	return st, storetest.Words(sheaf.Match{Text: "x"})
}

var near = store.Request{Limit: 1, Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0}}}

// TestFacets checks the counts of matches. Histories compare other stores with this one.
func TestFacets(t *testing.T) {
	st, req := tagged(t)
	value := func(s string, n int) store.FacetValue {
		return store.FacetValue{Value: sheaf.TextValue(s), Chunks: n}
	}
	got, err := st.Facets(t.Context(), req, []string{"tag", "none", "done"}, 2)
	want := []store.Facet{
		{Column: "tag", Distinct: 3, Values: []store.FacetValue{value("blue", 2), value("red", 2)}},
		{Column: "none", Values: []store.FacetValue{}},
		{Column: "done", Distinct: 2, Values: []store.FacetValue{{Value: sheaf.BoolValue(false), Chunks: 1},
			{Value: sheaf.BoolValue(true), Chunks: 1}}},
	}
	check.That(t, err == nil && reflect.DeepEqual(got, want), "facets are %+v, %v, want %+v", got, err, want)
	check.Is(t, must.Err(st.Facets(t.Context(), near, []string{"tag"}, 1)), sheaf.ErrUnsupported, "facets of a vector")
	check.Is(t, must.Err(st.Facets(t.Context(), store.Request{}, []string{"tag"}, 1)), sheaf.ErrInvalid,
		"facets of nothing")
}

// TestSorted checks the orders by a column.
func TestSorted(t *testing.T) {
	st, req := tagged(t)
	for _, c := range []struct {
		by    store.Order
		limit int
		want  string
	}{
		{store.Order{Column: "date"}, 10, "t:b t:a t:c t:e t:f"},
		{store.Order{Column: "date", Descending: true}, 10, "t:a t:c t:b t:e t:f"},
		{store.Order{Column: "date"}, 4, "t:b t:a t:c t:e"},
		{store.Order{Column: "tag"}, 10, "t:a t:c t:b t:e t:f"},
		{store.Order{Column: "tag", Descending: true}, 10, "t:a t:b t:c t:e t:f"},
		{store.Order{Column: "n"}, 2, "t:f t:a"},
		{store.Order{Column: "none"}, 3, "t:a t:b t:c"},
	} {
		req.Limit = c.limit
		found, err := st.Sorted(t.Context(), req, c.by)
		var got []string
		for _, h := range found {
			got = append(got, string(h.ID))
		}
		check.That(t, err == nil && strings.Join(got, " ") == c.want,
			"by %+v, %d of them: %s, %v, want %s", c.by, c.limit, got, err, c.want)
	}
	check.Is(t, must.Err(st.Sorted(t.Context(), near, store.Order{Column: "tag"})), sheaf.ErrUnsupported,
		"a vector's hits by a column")
}
