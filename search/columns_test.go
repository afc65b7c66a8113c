package search_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/analysis"
)

// TestOrderAndFacets checks that columns order and count all matches. A store that cannot do it returns an error.
func TestOrderAndFacets(t *testing.T) {
	s, p := searcher(animals()), load(t, "rrf")
	by := search.Options{Order: &store.Order{Column: "n", Descending: true}}
	for _, opt := range []search.Options{by, {Facets: []string{"n"}}} {
		if _, err := s.Search(context.Background(), query("cat", 3), p, opt); !errors.Is(err, sheaf.ErrUnsupported) {
			t.Errorf("%+v of a store without columns: %v", opt, err)
		}
	}
	a := must.Get(analysis.New(analysis.Options{}))
	st := memory.New(a)
	var batch store.Batch
	for i, id := range []sheaf.ID{"t:cats.md#Food", "t:cats.md#Sleep", "t:cats.md#Play", "t:gone.md#Cat",
		"t:garden.md#Trees"} {
		text := "a cat"
		if i == 4 {
			text = "a tree"
		}
		batch.Chunks = append(batch.Chunks, store.Chunk{ID: id, Doc: sheaf.DocumentID("t", id.Path()),
			Fields:  []store.Field{{Name: sheaf.FieldBody, Text: text}},
			Columns: []store.Column{{Name: "n", Values: []sheaf.Value{sheaf.NumberValue(float64(i % 2))}}}})
	}
	must.Do(t, st.Write(context.Background(), batch))
	s.Backend = st
	by.Facets = []string{"n"}
	r := mustSearch(t, s, query("cat", 9), p, by)
	if got := found(r); !slices.Equal(got, []string{"cats.md#Sleep", "cats.md#Food", "cats.md#Play"}) || r.Total != 4 {
		t.Errorf("found %v of %d", got, r.Total)
	}
	want := store.FacetValue{Value: sheaf.NumberValue(0), Chunks: 2}
	if len(r.Facets) != 1 || r.Facets[0].Distinct != 2 || r.Facets[0].Values[0] != want {
		t.Errorf("facets are %+v", r.Facets)
	}
	r = mustSearch(t, s, sheaf.Query{Limit: 2}, p, by)
	if got := found(r); len(got) != 1 || r.Total != 5 {
		t.Errorf("without words: %v of %d; the second is unknown", got, r.Total)
	}
}
