package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
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

// TestYardstick: as many loops are waited for as a processor has clients, also where
// they take longer than there is time.
func TestYardstick(t *testing.T) {
	const work = 100 * time.Microsecond
	one, many := yardstick(1, work, 0), yardstick(40*runtime.NumCPU(), work, time.Millisecond)
	if len(one) < runtime.NumCPU() || !slices.IsSorted(one) || !slices.IsSorted(many) {
		t.Fatalf("one client %v, many %v", one, many)
	}
	if len(many) == 0 || many[0] < 10*one[0] {
		t.Errorf("forty loops took %v where one took %v", many, one)
	}
}
