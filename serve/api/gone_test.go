package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/backend"
	"sheaf/serve"
	"sheaf/serve/api"
	"sheaf/serve/servetest"
)

// removed is a store whose place on its server somebody removed.
type removed struct{ backend.Backend }

var errRemoved = fmt.Errorf("there is no such index: %w", sheaf.ErrNotFound)

func (removed) Retrieve(context.Context, backend.Request) (sheaf.Ranking, error) {
	return nil, errRemoved
}
func (removed) Count(context.Context, backend.Request) (int, error) { return 0, errRemoved }
func (removed) Explain(context.Context, backend.Request, []sheaf.ID) ([]*sheaf.Explanation, error) {
	return nil, errRemoved
}
func (removed) Facets(context.Context, backend.Request, []string, int) ([]backend.Facet, error) {
	return nil, errRemoved
}
func (removed) Scores(context.Context, []backend.Request, []sheaf.ID) ([][]float64, error) {
	return nil, errRemoved
}
func (removed) Sorted(context.Context, backend.Request, backend.Order) (sheaf.Ranking, error) {
	return nil, errRemoved
}
func (removed) Stats(context.Context) (backend.Stats, error) { return backend.Stats{}, errRemoved }

// TestStoreRemoved: when what the store had is gone, no route says that the caller asked for
// something that does not exist.
func TestStoreRemoved(t *testing.T) {
	s := start(t, notes, func(o *api.Options) {
		f := servetest.Open(t, notes, nil)
		f.Index(t)
		store := f.Options
		store.Backend = removed{store.Backend}
		c, err := serve.New(store)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		o.Collections = []*serve.Collection{c}
	})
	var list struct{ Documents []struct{ ID string } }
	s.get(t, "GET", "/v1/documents", "", &list)
	if len(list.Documents) == 0 {
		t.Fatal("no documents")
	}
	id := list.Documents[0].ID
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/search?query=apples", ""},
		{"GET", "/v1/search?query=apples&explain=true", ""},
		{"POST", "/v1/search", `{"query": "apples", "facets": ["tag"]}`},
		{"POST", "/v1/similar", `{"id": "` + id + `"}`},
		{"POST", "/v1/explain", `{"query": "apples"}`},
		{"POST", "/v1/explain/absence", `{"query": "apples", "id": "` + id + `"}`},
		{"GET", "/v1/status", ""},
	} {
		res, body := s.ask(t, c.method, c.path, c.body)
		if res.StatusCode != 503 || !strings.Contains(string(body), "index --rebuild") {
			t.Errorf("%s %s: %d %s", c.method, c.path, res.StatusCode, body)
		}
	}
}
