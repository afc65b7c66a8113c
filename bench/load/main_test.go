package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestNothingMeasured: a run that has nothing to report says why. The server finds
// nothing, as the index that a server searches belongs to another module.
func TestNothingMeasured(t *testing.T) {
	answers := http.NewServeMux()
	answers.HandleFunc("/v1/documents", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"documents": [{"title": "Undo commits"}]}`)
	})
	answers.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "sheaf_heap_live_bytes 1\n%s 0\n", rememberedMetric)
	})
	answers.HandleFunc("/v1/search", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"query":%q,"degraded":false,"results":[],"total":{"value":0}}`+"\n", r.FormValue("query"))
	})
	s := httptest.NewServer(answers)
	defer s.Close()
	for want, o := range map[string]options{
		"--time":    {address: s.URL, clients: 2},
		"--clients": {address: s.URL, length: 1},
	} {
		if err := run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}
