package opensearch_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// TestOlderElasticsearch checks that Elasticsearch before 9.2, which refuses a mapping with an
// unknown setting, gets the same mapping without this setting.
func TestOlderElasticsearch(t *testing.T) {
	const setting = "mapping.exclude_source_vectors"
	made := map[string]map[string]any{}
	var refused []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := func(status int, body any) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if err := json.NewEncoder(w).Encode(body); err != nil {
				t.Error(err)
			}
		}
		fault := func(status int, kind, reason string) {
			cause := map[string]any{"type": kind, "reason": reason}
			answer(status, map[string]any{"error": map[string]any{"root_cause": []any{cause}, "type": kind, "reason": reason},
				"status": status})
		}
		name, mapping := strings.CutSuffix(strings.Trim(r.URL.Path, "/"), "/_mapping")
		switch {
		case r.Method == "PUT":
			var body map[string]any
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			if index := body["settings"].(map[string]any)["index"].(map[string]any); index[setting] != nil {
				refused = append(refused, name)
				fault(400, "illegal_argument_exception", "unknown setting [index."+setting+"] please check that any required "+
					"plugins are installed, or check the breaking changes documentation for removed settings")
				return
			}
			made[name] = body
			answer(200, map[string]any{"acknowledged": true, "index": name})
		case mapping && made[name] == nil:
			fault(404, "index_not_found_exception", "no such index ["+name+"]")
		case mapping:
			answer(200, map[string]any{name: made[name]})
		case strings.HasPrefix(r.URL.Path, "/_nodes"):
			answer(200, map[string]any{"nodes": map[string]any{"n": map[string]any{"version": "8.15.0"}}})
		default:
			answer(200, map[string]any{})
		}
	}))
	defer server.Close()
	o := opensearch.Options{Options: storekit.Options{URL: server.URL, Analyzer: storetest.Analyzer(t, "en"),
		Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 3}}}, Index: "notes",
		Dialect: opensearch.Elasticsearch}
	s, err := opensearch.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bodies, err := o.Bodies()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(bodies)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	index := want[o.Index]["settings"].(map[string]any)["index"].(map[string]any)
	if index[setting] != false {
		t.Errorf("newer servers are told %v", index[setting])
	}
	delete(index, setting)
	if len(refused) != 1 || len(made) != 2 || fmt.Sprint(made[o.Index]) != fmt.Sprint(want[o.Index]) ||
		fmt.Sprint(made[o.Index+"-terms"]) != fmt.Sprint(want[o.Index+"-terms"]) {
		t.Errorf("refused %v, made %v, want %v", refused, made, want)
	}
}
