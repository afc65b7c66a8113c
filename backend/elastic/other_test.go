package elastic_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf/backend/backendtest"
	"sheaf/backend/elastic"
)

// TestOtherServer: a server of another kind is asked about, when a store is opened and
// when it is examined. It needs none of the real ones.
func TestOtherServer(t *testing.T) {
	for _, c := range []struct {
		dialect         elastic.Dialect
		status          int
		answer          string
		opens, examines string
	}{
		{elastic.OpenSearch, http.StatusNotFound, `{"code":404,"message":"path was not found"}`, "(is that opensearch?)", "(is that opensearch?)"},
		{elastic.Elasticsearch, http.StatusNotFound, `{"code":404,"message":"path was not found"}`, "(is that elasticsearch?)", "(is that elasticsearch?)"},
		{elastic.Elasticsearch, http.StatusOK, `{"nodes":{"n":{"version":"3.6.0"}}}`, "then the address begins with opensearch://", "then the address begins with opensearch://"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.answer)
		}))
		o := elastic.Options{URL: server.URL, Index: "notes", Dialect: c.dialect, Analyzer: backendtest.Analyzer(t, "en")}
		if _, err := elastic.Open(t.Context(), o); !strings.Contains(fmt.Sprint(err), c.opens) {
			t.Errorf("%s, %s: opened: %v", c.dialect, c.answer, err)
		}
		said := ""
		for _, f := range elastic.Examine(t.Context(), o) {
			said += fmt.Sprint(f.Err)
		}
		if !strings.Contains(said, c.examines) {
			t.Errorf("%s, %s: examined: %s", c.dialect, c.answer, said)
		}
		server.Close()
	}
}
