package opensearch_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// TestScoreScaleOfVersions checks that scores mean the same with each version of OpenSearch, and each version that
// made the index. The factors were measured on 2.13.0, 2.19.1 and 3.6.0, newer versions also with
// indices of older ones. It needs no server.
func TestScoreScaleOfVersions(t *testing.T) {
	const k1 = 1.2
	for _, c := range []struct {
		plugin, made string // from the server; empty without the right to ask
		boost, cos   float64
	}{
		{"2.13.0.0", "136347827", 1 / (k1 + 1), 0},
		{"2.19.1.0", "136347827", 1 / (k1 + 1), 0},
		{"2.19.1.0", "136407927", 1 / (k1 + 1), 1},
		{"3.6.0.0", "136347827", 1, 0},
		{"3.6.0.0", "136407927", 1, 1},
		{"3.6.0.0", "137277827", 1, 1},
		{"", "136407927", 1 / (k1 + 1), 1},
		{"", "137277827", 1, 1},
		{"", "", 1, 1},
	} {
		var asked string
		server := standIn(t, c.plugin, c.made, func(body string) (int, any) {
			asked = body
			hit := map[string]any{"_id": "a", "_score": 1, "fields": map[string]any{"id": []string{"a"}}}
			return 200, map[string]any{"hits": map[string]any{"hits": []any{hit}}}
		})
		s, err := opensearch.Open(t.Context(),
			opensearch.Options{Options: storekit.Options{URL: server.URL, Analyzer: storetest.Analyzer(t, "en"), K1: k1,
				B: 0.75, Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 2}}}, Index: "notes"})
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		words := storetest.Words(sheaf.Match{Text: "tea"})
		words.Text.K1, words.Text.B = k1, 0.75
		if _, err := s.Retrieve(t.Context(), words); err != nil ||
			!strings.Contains(asked, fmt.Sprintf(`"boost":%v,`, c.boost)) {
			t.Errorf("%+v: words: %v, asked %s", c, err, asked)
		}
		found, err := s.Retrieve(t.Context(), store.Request{Limit: 1,
			Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0}}})
		if err != nil || len(found) != 1 || found[0].Score != c.cos {
			t.Errorf("%+v: nearest: %v, %v", c, found, err)
		}
		_ = s.Close()
	}
}

// standIn is an OpenSearch with the given versions of the plug-in and of the index. An empty
// version means that the user may not ask for it.
func standIn(t *testing.T, plugin, version string, search func(body string) (int, any)) *httptest.Server {
	type o = map[string]any
	made := o{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := func(status int, body any) {
			w.WriteHeader(status)
			if err := json.NewEncoder(w).Encode(body); err != nil {
				t.Error(err)
			}
		}
		body, _ := io.ReadAll(r.Body)
		name, what, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
		settings := strings.HasPrefix(what, "_settings")
		switch {
		case name == "_cat" && plugin == "", settings && version == "":
			answer(403, o{"error": o{"type": "security_exception", "reason": "no permissions"}, "status": 403})
		case name == "_cat":
			answer(200, []o{{"component": "opensearch-knn", "version": plugin}})
		case settings:
			answer(200, o{name: o{"settings": o{"index.version.created": version}}})
		case r.Method == "PUT":
			made[name] = json.RawMessage(body)
			answer(200, o{"acknowledged": true})
		case what == "_mapping" && made[name] == nil:
			answer(404, o{"error": o{"type": "index_not_found_exception", "reason": "no such index"}, "status": 404})
		case what == "_mapping":
			answer(200, o{name: made[name]})
		case what == "_search":
			answer(search(string(body)))
		default:
			answer(200, o{})
		}
	}))
	t.Cleanup(server.Close)
	return server
}
