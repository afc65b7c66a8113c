package opensearch_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

type object = map[string]any

// standIn starts a server without Lucene: it keeps the bodies of new indices and returns their mappings. answers
// replaces its answer to paths that begin with a key. An answer is a text, a status for an error, or a function of
// the request's body.
func standIn(t *testing.T, d opensearch.Dialect, answers object) (opensearch.Options, object) {
	made := object{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		check.That(t, !strings.HasPrefix(r.URL.Path, "//"), "the slash at the end of the address is in the path %s",
			r.URL.Path)
		name, mapping := strings.CutSuffix(strings.Trim(r.URL.Path, "/"), "/_mapping")
		var answer any = "{}"
		switch {
		case mapping && made[name] != nil:
			text, err := json.Marshal(object{name: made[name]})
			check.That(t, err == nil, "%v", err)
			answer = string(text)
		case mapping:
			answer = http.StatusNotFound
		}
		for path, a := range answers {
			if strings.HasPrefix(r.URL.Path, path) || r.Method+" "+r.URL.Path == path {
				answer = a
			}
		}
		if f, ok := answer.(func(body []byte) any); ok {
			answer = f(body)
		}
		switch answer := answer.(type) {
		case int:
			w.WriteHeader(answer)
			kind := map[int]string{403: "security_exception", 404: "index_not_found_exception"}[answer]
			_ = json.NewEncoder(w).Encode(object{"error": object{"type": kind, "reason": "no"}, "status": answer})
			return
		case error:
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(object{"error": object{"type": "illegal_argument_exception",
				"reason": answer.Error()}})
			return
		case string:
			_, _ = io.WriteString(w, answer)
		}
		if r.Method == "PUT" {
			made[name] = json.RawMessage(body)
		}
	}))
	t.Cleanup(server.Close)
	return opensearch.Options{Options: storekit.Options{URL: server.URL + "/", Analyzer: storetest.Analyzer(t, "en"),
		Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 2}}}, Index: "notes", Dialect: d}, made
}

// finding returns what Examine says about a check.
func finding(t *testing.T, o opensearch.Options, check string) store.Finding {
	t.Helper()
	for _, f := range opensearch.Examine(t.Context(), o) {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("%s is not checked", check)
	return store.Finding{}
}

const elasticNodes = `{"nodes":{"n":{"version":"9.5.3","build_flavor":"default"}}}`

// TestLicense checks that Examine names the license, and reports an expired one as a fault.
func TestLicense(t *testing.T) {
	for _, c := range []struct {
		answer, found string
		fault         bool
	}{
		{`{"license":{"type":"basic","status":"active"}}`, "basic, active", false},
		{`{"license":{"type":"trial","status":"expired"}}`, "trial, expired", true},
		{`{}`, "not told", false},
	} {
		o, _ := standIn(t, opensearch.Elasticsearch, object{"/_nodes": elasticNodes, "/_license": c.answer})
		if f := finding(t, o, "license"); !strings.HasPrefix(f.Found, c.found) || (f.Err != nil) != c.fault {
			t.Errorf("%s: %q, %v", c.answer, f.Found, f.Err)
		}
	}
}

// TestClock checks the examination of a server's clock. A time between the request and the answer
// is no difference, even if the server is slow.
func TestClock(t *testing.T) {
	for _, c := range []struct {
		nodes []time.Duration
		found string
		fault bool
	}{
		{[]time.Duration{0}, "differs by 0s", false}, {[]time.Duration{0, 90 * time.Minute, 0}, "differs by 1h", true},
		{[]time.Duration{-90 * time.Minute, 0}, "differs by 1h", true}, {nil, "not told", false},
	} {
		o, _ := standIn(t, opensearch.Elasticsearch, object{"/_nodes/_": elasticNodes, "/_nodes/stats": func([]byte) any {
			var nodes []string
			time.Sleep(20 * time.Millisecond) // a slow request
			for i, off := range c.nodes {
				nodes = append(nodes, fmt.Sprintf(`"n%d":{"timestamp":%d}`, i, time.Now().Add(off).UnixMilli()))
			}
			return fmt.Sprintf(`{"nodes":{%s}}`, strings.Join(nodes, ","))
		}})
		f := finding(t, o, "clock")
		check.That(t, strings.HasPrefix(f.Found, c.found) && (f.Err != nil) == c.fault, "%v: %q, %v", c.nodes, f.Found, f.Err)
	}
}

// TestOtherServer checks the advice of Open and Examine for another server, an old version, and a missing plug-in.
func TestOtherServer(t *testing.T) {
	icu := `[{"name":"n","component":"analysis-icu","version":"9.5.3"}]`
	for _, c := range []struct {
		dialect opensearch.Dialect
		answers object
		says    string
	}{
		{opensearch.OpenSearch, object{"/": 404}, "(is that opensearch?)"},
		{opensearch.Elasticsearch, object{"/": 404}, "(is that elasticsearch?)"},
		{opensearch.Elasticsearch, object{"/_nodes": `{"nodes":{"n":{"version":"3.6.0"}}}`},
			"then the address begins with opensearch://"},
		{opensearch.OpenSearch, object{"/_nodes": elasticNodes, "/_cat/plugins": icu},
			"begin the address with elasticsearch://"},
		{opensearch.OpenSearch, object{"/_cat/plugins": icu}, "opensearch-plugin install"},
		{opensearch.OpenSearch, object{"/_cat/plugins": `[{"component":"opensearch-knn","version":"2.11.1.0"}]`},
			"version 2.11.1.0: upgrade it to 2.13"},
		{opensearch.Elasticsearch, object{"/_nodes": `{"nodes":{"n":{"version":"8.14.3"}}}`},
			"version 8.14.3: upgrade it to 8.15"},
	} {
		o, _ := standIn(t, c.dialect, c.answers)
		_, err := opensearch.Open(t.Context(), o)
		check.That(t, strings.Contains(fmt.Sprint(err), c.says), "%s, %v: opened: %v", c.dialect, c.answers, err)
		err = examined(t, o)
		check.That(t, strings.Contains(fmt.Sprint(err), c.says), "%s, %v: examined: %s", c.dialect, c.answers, err)
	}
}

// TestExamineWithoutDictionary checks that the doctor reports an index without its dictionary,
// which finds no prefixes and takes no documents.
func TestExamineWithoutDictionary(t *testing.T) {
	for _, gone := range []bool{false, true} {
		o, made := standIn(t, opensearch.OpenSearch, object{"/notes/_count": `{"count":3}`})
		bodies := must.Get(o.Bodies())
		if maps.Copy(made, bodies); gone {
			delete(made, "notes-terms")
		}
		f := finding(t, o, "index notes")
		check.That(t, (f.Err != nil) == gone && (!gone || strings.Contains(fmt.Sprint(f.Err),
			"dictionary notes-terms does not: sheaf index --rebuild")), "gone %v: %+v", gone, f)
	}
}

// decoded returns the body of a new index.
func decoded(t *testing.T, body any) (out struct {
	Settings struct{ Index object }
	Mappings object
}) {
	t.Helper()
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	must.Do(t, err)
	return out
}

// TestOlderElasticsearch checks that Elasticsearch before 9.2 gets the mapping without the setting that it refuses.
func TestOlderElasticsearch(t *testing.T) {
	refused := 0
	o, made := standIn(t, opensearch.Elasticsearch, object{"/_nodes": `{"nodes":{"n":{"version":"8.15.0"}}}`,
		"PUT /notes": func(body []byte) any {
			if strings.Contains(string(body), opensearch.VectorsInSource) {
				refused++
				return fmt.Errorf("unknown setting [index.%s] please check", opensearch.VectorsInSource)
			}
			return "{}"
		}})
	must.Get(opensearch.Open(t.Context(), o))
	bodies := must.Get(o.Bodies())
	want := decoded(t, bodies["notes"])
	check.Equal(t, want.Settings.Index[opensearch.VectorsInSource], false,
		"a setting in the body for newer servers")
	delete(want.Settings.Index, opensearch.VectorsInSource)
	check.That(t, refused == 1 && fmt.Sprint(decoded(t, made["notes"])) == fmt.Sprint(want) &&
		fmt.Sprint(decoded(t, made["notes-terms"])) == fmt.Sprint(decoded(t, bodies["notes-terms"])),
		"refused %d, made %s, want %v", refused, made, want)
}

// TestShardsAndReplicasOfNewIndex checks the shards and replicas of a new index: by the options, or by the number of
// nodes.
func TestShardsAndReplicasOfNewIndex(t *testing.T) {
	for _, c := range []struct{ nodes, shards, replicas, wantShards, wantReplicas int }{
		{1, 0, 0, 1, 0}, {3, 0, 0, 3, 1}, {3, 5, 0, 5, 1}, {3, 0, 2, 3, 2}, {3, 1, opensearch.NoReplicas, 1, 0},
		{1, 2, 1, 2, 1}, {0, 0, 0, 1, 0},
	} {
		health := any(fmt.Sprintf(`{"number_of_data_nodes":%d}`, c.nodes))
		if c.nodes == 0 {
			health = http.StatusForbidden
		}
		o, made := standIn(t, opensearch.Elasticsearch, object{"/_cluster/health": health})
		o.Shards, o.Replicas = c.shards, c.replicas
		_, err := opensearch.Open(t.Context(), o)
		i := decoded(t, made["notes"]).Settings.Index
		check.That(t, i["number_of_shards"] == float64(c.wantShards) && i["number_of_replicas"] == float64(c.wantReplicas),
			"%+v: %v (%v)", c, i, err)
	}
}

// TestScoreScaleOfVersions checks that scores mean the same with each version of OpenSearch, and each
// version that made the index. The factors were measured on 2.13.0, 2.19.1 and 3.6.0, newer versions
// also with indices of older ones. An empty version means that the user may not ask for it.
func TestScoreScaleOfVersions(t *testing.T) {
	const k1 = 1.2
	for _, c := range []struct {
		plugin, made string
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
		answers := object{"/_cat": http.StatusForbidden, "/notes/_settings": http.StatusForbidden,
			"/notes/_msearch": func(body []byte) any {
				asked = string(body)
				return `{"responses":[{"status":200,"hits":{"hits":[{"_score":1,"fields":{"id":["a"]}}]}}]}`
			}}
		if c.plugin != "" {
			answers["/_cat"] = fmt.Sprintf(`[{"component":"opensearch-knn","version":%q}]`, c.plugin)
		}
		if c.made != "" {
			answers["/notes/_settings"] = fmt.Sprintf(`{"notes":{"settings":{"index.version.created":%q}}}`, c.made)
		}
		o, _ := standIn(t, opensearch.OpenSearch, answers)
		s, err := opensearch.Open(t.Context(), o)
		must.That(t, err == nil, "%+v: %v", c, err)
		if _, err := s.Retrieve(t.Context(), storetest.Words(sheaf.Match{Text: "tea"})); err != nil ||
			!strings.Contains(asked, fmt.Sprintf(`"boost":%v,`, c.boost*2)) { // the title weighs 2
			t.Errorf("%+v: words: %v, asked %s", c, err, asked)
		}
		found, err := s.Retrieve(t.Context(), store.Request{Limit: 1,
			Vector: &store.VectorRequest{Field: "body", Vector: []float32{1, 0}}})
		check.That(t, err == nil && len(found) == 1 && found[0].Score == c.cos, "%+v: nearest: %v, %v", c, found, err)
	}
}
