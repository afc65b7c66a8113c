package weaviate_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
)

// TestRemovedStore checks that a search says so when the classes of an open store are removed. An
// invalid request or an empty result would be wrong.
func TestRemovedStore(t *testing.T) {
	o := options(t)
	b := stores().Open(t, o)
	defer b.Close()
	storetest.Removed(t, b, func() error { return weaviate.Drop(t.Context(), o) })
}

// TestDropKeepsForeignObjects checks that Drop keeps another store's class whose name begins like those of
// the vector classes. It refuses a foreign class with the store's name.
func TestDropKeepsForeignObjects(t *testing.T) {
	o := options(t)
	o.Vectors = []store.VectorField{{Name: store.VectorBody, Dims: 2}}
	other := o
	other.Class, other.Vectors = o.Class+"_V_other", nil
	t.Cleanup(func() {
		if err := weaviate.Drop(context.Background(), other); err != nil {
			t.Error(err)
		}
	})
	for _, o := range []weaviate.Options{o, other} {
		b := stores().Open(t, o)
		batch := storetest.One("t:a", "stone")
		if o.Vectors != nil {
			batch.Chunks[0].Vectors = []store.Vectors{{Name: store.VectorBody, Passages: [][]float32{{1, 0}}}}
		}
		must.Do(t, errors.Join(b.Write(t.Context(), batch), b.Close()))
	}
	must.Do(t, weaviate.Drop(t.Context(), o))
	got := classesOf(t, o)
	check.That(t, len(got) == 1 && got[0] == other.Class, "after a drop of %s there are %v", o.Class, got)
	foreign := options(t)
	ask(t, foreign, http.MethodPost, "/v1/schema", `{"class": "`+foreign.Class+`", "vectorizer": "none"}`)
	check.Is(t, weaviate.Drop(t.Context(), foreign), sheaf.ErrInvalid, "a class of something else")
	check.Equal(t, len(classesOf(t, foreign)), 1, "classes of something else")
	ask(t, foreign, http.MethodDelete, "/v1/schema/"+foreign.Class, "")
}

// classesOf returns the names of the store's class and of classes whose names begin with it and _.
func classesOf(t *testing.T, o weaviate.Options) (names []string) {
	t.Helper()
	var all struct{ Classes []struct{ Class string } }
	must.Do(t, json.Unmarshal(ask(t, o, http.MethodGet, "/v1/schema", ""), &all))
	for _, c := range all.Classes {
		if c.Class == o.Class || strings.HasPrefix(c.Class, o.Class+"_") {
			names = append(names, c.Class)
		}
	}
	return names
}

// ask sends a request to a store's server directly.
func ask(t *testing.T, o weaviate.Options, method, path, body string) []byte {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), method, o.URL+path, strings.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	if o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+o.Key)
	}
	res := must.Get(http.DefaultClient.Do(req))
	defer res.Body.Close()
	out := must.Get(io.ReadAll(res.Body))
	must.Equal(t, res.StatusCode, http.StatusOK, "%s %s: %s", method, path, res.Status)
	return out
}
