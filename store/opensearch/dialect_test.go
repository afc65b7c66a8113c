package opensearch

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"path/filepath"
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// TestElasticsearch compares requests to Elasticsearch with a golden file, also requests that need
// modules the test server lacks. So the file has no answers, and the test itself gives the words
// for prefixes and misspelled words.
func TestElasticsearch(t *testing.T) {
	o := Options{Options: storekit.Options{URL: "http://elasticsearch", Analyzer: storetest.Analyzer(t, "en"),
		K1: store.DefaultK1, B: store.DefaultB,
		Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 3}, {Name: "title", Model: "m", Dims: 3}}},
		Index: "golden", Dialect: Elasticsearch, HNSW: true, Shards: 3, Replicas: 1}
	s := &Store{o: o, flat: map[string]bool{}}
	s.vectors.Set(o.Vectors)
	var out []object
	add := func(about string, body any, err error) {
		t.Helper()
		switch {
		case err == nil:
			out = append(out, object{"About": about, "Body": body})
		case errors.Is(err, sheaf.ErrUnsupported):
			out = append(out, object{"About": about, "Refused": err.Error()})
		default:
			t.Errorf("%s: %v", about, err)
		}
	}
	bodies, err := o.Bodies()
	add("how the indices are made", bodies, err)
	for _, r := range storetest.Requests() {
		clauses := must.Get(s.bounds(r.Request.Filter, r.Request.Within))
		if r.Request.Vector != nil {
			query, err := s.nearestQuery(&r.Request, clauses)
			add(r.Name, query, err)
			continue
		}
		if err := s.Supports(r.Request); err != nil {
			add(r.Name, nil, err)
			continue
		}
		w := words{s: s, req: r.Request.Text, plan: storekit.Compile(o.Analyzer, r.Request.Text)}
		w.expansions, _ = w.plan.Grow(func(storekit.Expand) ([]storekit.Grown, error) {
			return []storekit.Grown{{Term: "oolong", Weight: 1}, {Term: storekit.FormMark + "oolongs", Weight: 0.5}}, nil
		})
		add(r.Name, object{"filter": clauses, "query": w.root()}, nil)
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	must.Do(t, enc.Encode(out))
	storetest.Golden(t, filepath.Join("testdata", "elasticsearch.json"), text.String(),
		flag.Lookup("update").Value.String() == "true")
}
