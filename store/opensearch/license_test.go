package opensearch_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf/store/opensearch"
	"sheaf/store/storetest"
)

// TestLicense: a license that does not cover retrievers is told of by whoever examines
// the server, and is no fault; what it does not cover is unsupported, with what to do.
func TestLicense(t *testing.T) {
	for answer, c := range map[string]struct {
		found string
		fault bool
	}{
		`{"license":{"type":"basic","status":"active"}}`:      {"basic, active; push_down needs enterprise or trial", false},
		`{"license":{"type":"platinum","status":"active"}}`:   {"platinum, active; push_down needs enterprise or trial", false},
		`{"license":{"type":"trial","status":"active"}}`:      {"trial, active", false},
		`{"license":{"type":"enterprise","status":"active"}}`: {"enterprise, active", false},
		`{"license":{"type":"trial","status":"expired"}}`:     {"trial, expired", true},
		`{}`: {"not told", false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said := `{"nodes":{"n":{"version":"9.5.3"}}}`
			if r.URL.Path == "/_license" {
				said = answer
			}
			_, _ = io.WriteString(w, said)
		}))
		o := opensearch.Options{URL: server.URL, Index: "notes", Dialect: opensearch.Elasticsearch, Analyzer: storetest.Analyzer(t, "en")}
		told := 0
		for _, f := range opensearch.Examine(t.Context(), o) {
			if f.Check != "license" {
				continue
			}
			if told++; !strings.HasPrefix(f.Found, c.found) || strings.Contains(f.Found, "push_down") != strings.Contains(c.found, "push_down") || (f.Err != nil) != c.fault {
				t.Errorf("%s: %q, %v", answer, f.Found, f.Err)
			}
		}
		if told != 1 {
			t.Errorf("%s: told %d times", answer, told)
		}
		server.Close()
	}
}
