package postgres_test

import (
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/postgres"
	"sheaf/store/storetest"
)

// TestRemovedStore checks that a search says so when the schema of an open store is removed. An invalid
// request or an empty result would be wrong.
func TestRemovedStore(t *testing.T) {
	o := options(t)
	b := stores().Open(t, o)
	defer b.Close()
	storetest.Removed(t, b, func() error { return postgres.Drop(t.Context(), o.URL, o.Schema) })
}

// TestStoreRefilledByRebuild checks stores that are open while sheaf index --rebuild drops and fills their
// schema. Term numbers of the old dictionary mean other words in the new one. The stores must not
// use them, neither to search nor to write.
func TestStoreRefilledByRebuild(t *testing.T) {
	o := options(t)
	b := stores().Open(t, o)
	defer b.Close()
	reader := stores().Open(t, o)
	defer reader.Close()
	must.Do(t, b.Write(t.Context(), storetest.One("t:a", "stone river")))
	for _, word := range []string{"stone", "river"} {
		for _, s := range []store.Backend{b, reader} {
			must.Equal(t, storetest.Hits(t, s, word), 1, "found before")
		}
	}
	must.Do(t, postgres.Drop(t.Context(), o.URL, o.Schema))
	again := stores().Open(t, o)
	defer again.Close()
	for _, batch := range []store.Batch{storetest.One("t:z", "cloud meadow"), storetest.One("t:a", "stone river"),
		storetest.One("t:b", "river")} {
		must.Do(t, again.Write(t.Context(), batch))
	}
	want := map[string]int{"stone": 1, "river": 2, "cloud": 1, "meadow": 1}
	for word, n := range want {
		check.Equal(t, storetest.Hits(t, reader, word), n, "%s: found by an earlier user", word)
	}
	must.Do(t, b.Write(t.Context(), storetest.One("t:c", "stone river")))
	want["stone"], want["river"] = 2, 3
	for word, n := range want {
		for name, s := range map[string]store.Backend{"before": b, "reader": reader, "new": again} {
			check.Equal(t, storetest.Hits(t, s, word), n, "%s: found by %s after a write", word, name)
		}
	}
}

// TestVectorFieldsRefilledByRebuild checks the same for vector fields: a field's old number may name another field's
// table.
func TestVectorFieldsRefilledByRebuild(t *testing.T) {
	o := options(t)
	reader := stores().Open(t, o)
	defer reader.Close()
	with := func(id, field string, vector ...float32) store.Batch {
		b := storetest.One(id, "stone")
		b.Chunks[0].Vectors = []store.Vectors{{Name: field, Passages: [][]float32{vector}}}
		return b
	}
	fill := func(batches ...store.Batch) {
		t.Helper()
		s := stores().Open(t, o)
		defer s.Close()
		for _, b := range batches {
			must.Do(t, s.Write(t.Context(), b))
		}
	}
	find := func(want sheaf.ID) {
		t.Helper()
		req := store.Request{Limit: 10, Vector: &store.VectorRequest{Field: store.VectorTitle, Vector: []float32{1, 0}}}
		found, err := reader.Retrieve(t.Context(), req)
		check.That(t, err == nil && len(found) == 1 && found[0].ID == want, "found %v, %v, want %s", found, err, want)
		n, err := reader.(store.Counter).Count(t.Context(), req)
		check.That(t, err == nil && n == 1, "counted %d, %v, want 1", n, err)
		about, err := reader.(store.Explainer).Explain(t.Context(), req, []sheaf.ID{want})
		check.That(t, err == nil && about[0] != nil, "explained %v, %v", about, err)
	}
	fill(with("t:a", store.VectorTitle, 1, 0), with("t:b", store.VectorBody, 1, 0))
	find("t:a")
	must.Do(t, postgres.Drop(t.Context(), o.URL, o.Schema))
	fill(with("t:c", store.VectorBody, 1, 0), with("t:d", store.VectorTitle, 1, 0))
	find("t:d")
	must.Do(t, postgres.Drop(t.Context(), o.URL, o.Schema))
	fill(with("t:e", "other", 1, 0), with("t:f", store.VectorBody, 1, 0))
	req := store.Request{Limit: 10, Vector: &store.VectorRequest{Field: store.VectorTitle, Vector: []float32{1, 0}}}
	if found, err := reader.Retrieve(t.Context(), req); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v where nothing has such vectors", found, err)
	}
	n, err := reader.(store.Counter).Count(t.Context(), req)
	check.That(t, err == nil && n == 0, "counted %d, %v where nothing has such vectors", n, err)
}
