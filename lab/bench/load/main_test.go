package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestNothingMeasured checks that a run without results says why. The server here finds nothing,
// because an index needs another module.
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
	empty := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(empty, []byte("\n \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]options{
		"--time":      {address: s.URL, clients: 2},
		"--clients":   {address: s.URL, length: 1},
		"queries.txt": {address: s.URL, clients: 2, length: 1, queries: empty},
	} {
		if err := run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}

// TestQueriesOfAFile checks that queries of a file run in turn, and again from the first.
func TestQueriesOfAFile(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	answers := http.NewServeMux()
	answers.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "sheaf_heap_live_bytes 1\n%s 0\n", rememberedMetric)
	})
	answers.HandleFunc("/v1/search", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.FormValue("query"))
		mu.Unlock()
		fmt.Fprintf(w, `{"query":%q,"degraded":false,"results":[{"rank":1,"id":"a"}],"total":{"value":1}}`+"\n",
			r.FormValue("query"))
	})
	s := httptest.NewServer(answers)
	defer s.Close()
	file := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(file, []byte("undo a commit\r\n\nwhere is the log?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(options{address: s.URL, clients: 1, length: time.Millisecond, queries: file}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"undo a commit", "where is the log?", "undo a commit"}; len(asked) < 3 ||
		!slices.Equal(asked[:3], want) {
		t.Errorf("asked %q, want %q and so on", asked[:min(3, len(asked))], want)
	}
}
