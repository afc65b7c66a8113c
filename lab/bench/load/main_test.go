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

// server answers each query with these results after a delay, and returns a function for the queries so far.
func server(t *testing.T, results string, delay time.Duration) (address string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var queries []string
	answers := http.NewServeMux()
	answers.HandleFunc("/v1/documents", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"documents": [{"title": "Undo commits"}]}`)
	})
	answers.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "sheaf_heap_live_bytes 1\n%s 0\n", rememberedMetric)
	})
	answers.HandleFunc("/v1/search", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		mu.Lock()
		defer mu.Unlock()
		queries = append(queries, r.FormValue("query"))
		fmt.Fprintf(w, `{"query":%q,"degraded":false,%s}`+"\n", r.FormValue("query"), results)
	})
	s := httptest.NewServer(answers)
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(queries)
	}
}

func queriesFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestNothingMeasured checks that a run without results says why.
func TestNothingMeasured(t *testing.T) {
	address, _ := server(t, `"results":[],"total":{"value":0}`, 0)
	for want, o := range map[string]options{
		"--time":      {address: address, clients: 2},
		"--clients":   {address: address, length: 1},
		"queries.txt": {address: address, clients: 2, length: 1, queries: queriesFile(t, "\n \n")},
	} {
		if err := run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}

// TestQueriesOfAFile checks that queries of a file run in turn, and again from the first.
func TestQueriesOfAFile(t *testing.T) {
	address, asked := server(t, `"results":[{"rank":1,"id":"a"}],"total":{"value":1}`, 0)
	file := queriesFile(t, "undo a commit\r\n\nwhere is the log?\n")
	if err := run(options{address: address, clients: 1, length: time.Millisecond, queries: file}); err != nil {
		t.Fatal(err)
	}
	got := asked()
	if want := []string{"undo a commit", "where is the log?", "undo a commit"}; len(got) < 3 ||
		!slices.Equal(got[:3], want) {
		t.Errorf("asked %q, want %q and so on", got[:min(3, len(got))], want)
	}
}

// TestOpenLoad checks that with --rate all arriving queries are asked, and that their time includes the wait.
func TestOpenLoad(t *testing.T) {
	const delay, late = 30 * time.Millisecond, 60 * time.Millisecond
	address, asked := server(t, `"results":[{"rank":1,"id":"a"}],"total":{"value":1}`, delay)
	o := options{address: address, clients: 1, rate: 50, length: 100 * time.Millisecond, p99: late,
		queries: queriesFile(t, "undo\n")}
	if err := run(o); err == nil || !strings.Contains(err.Error(), "99th percentile") {
		t.Errorf("error %v: the last of 5 queries in 100 ms waits for 4 of %v, so want the 99th percentile", err, delay)
	}
	if n := len(asked()); n != 55 { // 50 of them in the second of warm-up
		t.Errorf("%d queries in 1.1 s, want 55", n)
	}
	o.rate = -1
	if err := run(o); err == nil || !strings.Contains(err.Error(), "--rate") {
		t.Errorf("error %v, want --rate", err)
	}
}
