package opensearch_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// TestLicense checks that Examine names the license, and reports an expired one as a fault.
func TestLicense(t *testing.T) {
	for answer, c := range map[string]struct {
		found string
		fault bool
	}{
		`{"license":{"type":"basic","status":"active"}}`:      {"basic, active", false},
		`{"license":{"type":"platinum","status":"active"}}`:   {"platinum, active", false},
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
		o := opensearch.Options{Options: storekit.Options{URL: server.URL, Analyzer: storetest.Analyzer(t, "en")},
			Index: "notes", Dialect: opensearch.Elasticsearch}
		told := 0
		for _, f := range opensearch.Examine(t.Context(), o) {
			if f.Check != "license" {
				continue
			}
			if told++; !strings.HasPrefix(f.Found, c.found) || (f.Err != nil) != c.fault {
				t.Errorf("%s: %q, %v", answer, f.Found, f.Err)
			}
		}
		if told != 1 {
			t.Errorf("%s: told %d times", answer, told)
		}
		server.Close()
	}
}
