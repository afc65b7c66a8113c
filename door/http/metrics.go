package http

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	rtmetrics "runtime/metrics"
	"slices"
	"sync"
	"time"

	"sheaf/collection"
	"sheaf/search"
)

// buckets are the upper bounds of the histograms' buckets, in seconds.
var buckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}

type series struct {
	counts []uint64 // by bucket; the last one has no upper bound
	sum    float64
}

type metrics struct {
	began time.Time

	mu       sync.Mutex
	requests map[string]uint64  // by the labels operation and status
	times    map[string]*series // by operation
	steps    map[string]*series // by step of a ranking
}

// request counts a request by operation and status. It adds the request's time and the steps' times to the histograms.
func (m *metrics) request(operation string, status int, took time.Duration, steps []search.Timing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[fmt.Sprintf(`operation="%s",status="%d"`, operation, status)]++
	observe(m.times, operation, took)
	for _, s := range steps {
		observe(m.steps, headerName(s.Step), s.Duration)
	}
}

// observe adds a duration to the histogram called name. The caller holds m.mu.
func observe(all map[string]*series, name string, took time.Duration) {
	s := all[name]
	if s == nil {
		s = &series{counts: make([]uint64, len(buckets)+1)}
		all[name] = s
	}
	seconds := took.Seconds()
	at, _ := slices.BinarySearch(buckets, seconds)
	s.counts[at]++
	s.sum += seconds
}

// statusWriter passes an answer of another door on, and records its status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if status >= http.StatusOK { // else the status is informational and another follows
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (a *API) writeMetrics(w io.Writer) {
	var answers collection.CacheCounts
	for _, c := range a.o.Collections {
		n := c.Cache()
		answers.Found += n.Found
		answers.Shared += n.Shared
		answers.Missed += n.Missed
		answers.Passed += n.Passed
		answers.Entries += n.Entries
		answers.Bytes += n.Bytes
	}
	head := func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind) }
	head("sheaf_answers_total", "counter", "Rankings by where they came from.")
	fmt.Fprintf(w, `sheaf_answers_total{from="cache"} %d
sheaf_answers_total{from="other request"} %d
sheaf_answers_total{from="search"} %d
sheaf_answers_total{from="search, not kept"} %d
`, answers.Found, answers.Shared, answers.Missed, answers.Passed)
	m := a.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	head("sheaf_requests_total", "counter", "Requests by operation and status.")
	for _, labels := range sortedKeys(m.requests) {
		fmt.Fprintf(w, "sheaf_requests_total{%s} %d\n", labels, m.requests[labels])
	}
	head("sheaf_request_seconds", "histogram", "How long requests took.")
	histogram(w, "sheaf_request_seconds", "operation", m.times)
	head("sheaf_step_seconds", "histogram", "How long the steps of rankings took.")
	histogram(w, "sheaf_step_seconds", "step", m.steps)
	heap := []rtmetrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	rtmetrics.Read(heap)
	for _, gauge := range []struct {
		name, help string
		value      float64
	}{
		{"sheaf_cache_bytes", "Memory of the rankings that are remembered.", float64(answers.Bytes)},
		{"sheaf_cache_entries", "Rankings that are remembered.", float64(answers.Entries)},
		{"sheaf_goroutines", "Goroutines of the process.", float64(runtime.NumGoroutine())},
		{"sheaf_heap_bytes", "Heap with garbage.", float64(heap[1].Value.Uint64())},
		{"sheaf_heap_live_bytes", "Heap after the last collection.", float64(heap[0].Value.Uint64())},
		{"sheaf_requests_running", "Requests that work.", float64(len(a.reads.slots) + len(a.writes.slots))},
		{"sheaf_requests_waiting", "Requests that wait for a slot.",
			float64(a.reads.waiting.Load() + a.writes.waiting.Load())},
		{"sheaf_uptime_seconds", "Time since the server began.", time.Since(m.began).Seconds()},
	} {
		head(gauge.name, "gauge", gauge.help)
		fmt.Fprintf(w, "%s %v\n", gauge.name, gauge.value)
	}
}

func histogram(w io.Writer, name, label string, all map[string]*series) {
	for _, value := range sortedKeys(all) {
		s, n := all[value], uint64(0)
		for i, bound := range buckets {
			n += s.counts[i]
			fmt.Fprintf(w, "%s_bucket{%s=\"%s\",le=\"%v\"} %d\n", name, label, value, bound, n)
		}
		n += s.counts[len(buckets)]
		fmt.Fprintf(w, "%s_bucket{%s=\"%s\",le=\"+Inf\"} %d\n%s_sum{%s=\"%s\"} %v\n%s_count{%s=\"%s\"} %d\n",
			name, label, value, n, name, label, value, s.sum, name, label, value, n)
	}
}
