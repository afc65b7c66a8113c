package opensearch_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// TestOtherServer checks the advice of Open and Examine for another kind of server. It needs no
// real server.
func TestOtherServer(t *testing.T) {
	const elasticsearch = `{"nodes":{"n":{"version":"9.5.3","build_flavor":"default"}}}`
	for _, c := range []struct {
		dialect         opensearch.Dialect
		status          int
		answer          string
		opens, examines string
	}{
		{opensearch.OpenSearch, http.StatusNotFound, `{"code":404,"message":"path was not found"}`, "(is that opensearch?)",
			"(is that opensearch?)"},
		{opensearch.Elasticsearch, http.StatusNotFound, `{"code":404,"message":"path was not found"}`,
			"(is that elasticsearch?)", "(is that elasticsearch?)"},
		{opensearch.Elasticsearch, http.StatusOK, `{"nodes":{"n":{"version":"3.6.0"}}}`, "then the address begins with " +
			"opensearch://", "then the address begins with opensearch://"},
		{opensearch.OpenSearch, http.StatusOK, elasticsearch, "begin the address with elasticsearch://",
			"begin the address with elasticsearch://"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.answer == elasticsearch && r.URL.Path == "/_cat/plugins" {
				_, _ = io.WriteString(w, `[{"name":"n","component":"analysis-icu","version":"9.5.3"}]`)
				return
			}
			if strings.HasPrefix(r.URL.Path, "//") {
				t.Errorf("%s: the slash at the end of the address stands in the path %s", c.dialect, r.URL.Path)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.answer)
		}))
		o := opensearch.Options{Options: storekit.Options{URL: server.URL + "/", Analyzer: storetest.Analyzer(t, "en")},
			Index: "notes", Dialect: c.dialect}
		if _, err := opensearch.Open(t.Context(), o); !strings.Contains(fmt.Sprint(err), c.opens) {
			t.Errorf("%s, %s: opened: %v", c.dialect, c.answer, err)
		}
		said := ""
		for _, f := range opensearch.Examine(t.Context(), o) {
			said += fmt.Sprint(f.Err)
		}
		if !strings.Contains(said, c.examines) {
			t.Errorf("%s, %s: examined: %s", c.dialect, c.answer, said)
		}
		server.Close()
	}
}

// TestClock checks the examination of a server's clock. A time between the request and the answer
// is no difference, even if the server is slow.
func TestClock(t *testing.T) {
	for what, c := range map[string]struct {
		nodes []time.Duration
		found string
		fault bool
	}{
		"right":                    {[]time.Duration{0}, "differs by 0s", false},
		"one of three is too late": {[]time.Duration{0, 90 * time.Minute, 0}, "differs by 1h", true},
		"one is too early":         {[]time.Duration{-90 * time.Minute, 0}, "differs by 1h", true},
		"nobody tells":             {nil, "not told", false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/_nodes/stats") {
				_, _ = io.WriteString(w, `{"nodes":{"n":{"version":"9.5.3"}}}`)
				return
			}
			var nodes []string
			time.Sleep(20 * time.Millisecond) // a slow request
			for i, off := range c.nodes {
				nodes = append(nodes, fmt.Sprintf(`"n%d":{"timestamp":%d}`, i, time.Now().Add(off).UnixMilli()))
			}
			_, _ = fmt.Fprintf(w, `{"nodes":{%s}}`, strings.Join(nodes, ","))
		}))
		o := opensearch.Options{Options: storekit.Options{URL: server.URL, Analyzer: storetest.Analyzer(t, "en")},
			Index: "notes", Dialect: opensearch.Elasticsearch}
		told := false
		for _, f := range opensearch.Examine(t.Context(), o) {
			if f.Check != "clock" {
				continue
			}
			told = true
			if !strings.HasPrefix(f.Found, c.found) || (f.Err != nil) != c.fault {
				t.Errorf("%s: %q, %v", what, f.Found, f.Err)
			}
		}
		if !told {
			t.Errorf("%s: no word of the clock", what)
		}
		server.Close()
	}
}

// TestExamineWithoutDictionary checks that the doctor reports an index without its dictionary,
// which finds no prefixes and takes no documents.
func TestExamineWithoutDictionary(t *testing.T) {
	for _, gone := range []bool{false, true} {
		o := opensearch.Options{Options: storekit.Options{Analyzer: storetest.Analyzer(t, "en")}, Index: "notes",
			Dialect: opensearch.OpenSearch}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			bodies, err := o.Bodies()
			if err != nil {
				t.Error(err)
			}
			name, mapping := strings.CutSuffix(strings.Trim(r.URL.Path, "/"), "/_mapping")
			switch {
			case mapping && gone && name == "notes-terms":
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, `{"error":{"type":"index_not_found_exception","reason":"no such index `+
					`[notes-terms]"},"status":404}`)
			case mapping:
				_ = json.NewEncoder(w).Encode(map[string]any{name: bodies[name]})
			case !strings.HasSuffix(name, "/_count"):
				_, _ = io.WriteString(w, `{}`)
			default:
				_, _ = io.WriteString(w, `{"count":3,"_shards":{"total":1,"successful":1,"failed":0}}`)
			}
		}))
		o.URL = server.URL
		found := opensearch.Examine(t.Context(), o)
		if f := found[len(found)-1]; f.Check != "index notes" || (f.Err != nil) != gone ||
			gone && !strings.Contains(fmt.Sprint(f.Err), "dictionary notes-terms does not: sheaf index --rebuild") {
			t.Errorf("gone %v: %+v", gone, f)
		}
		server.Close()
	}
}
