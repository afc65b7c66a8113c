package storetest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
)

// Overhead compares two ways to do the same work. It runs both in turns, n times each, so that other work on the
// machine disturbs both equally. If prepare is not nil, it runs before each. Overhead reports the median times, the
// median difference, the ratio of medians, and this program's processor times. Times are in milliseconds.
func Overhead(b *testing.B, n int, prepare func(), ours, plain func(i int) error) {
	b.Helper()
	var times [2][]time.Duration
	var cpu [2]time.Duration
	for b.Loop() {
		for i := range n {
			for way, f := range []func(int) error{ours, plain} {
				if prepare != nil {
					prepare()
				}
				began, used := time.Now(), CPU()
				must.Do(b, f(i))
				cpu[way] += CPU() - used
				times[way] = append(times[way], time.Since(began))
			}
		}
	}
	differences := slices.Clone(times[0])
	for i, took := range times[1] {
		differences[i] -= took
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2]) / 1e6
	}
	whole, rest := median(times[0]), median(times[1])
	b.ReportMetric(whole, "ms/ours")
	b.ReportMetric(rest, "ms/plain")
	b.ReportMetric(median(differences), "ms-over")
	b.ReportMetric(whole/rest, "ratio")
	runs := float64(len(differences))
	b.ReportMetric(float64(cpu[0])/1e6/runs, "cpu-ms/ours")
	b.ReportMetric(float64(cpu[1])/1e6/runs, "cpu-ms/plain")
	b.ReportMetric(0, "ns/op")
}

// Tap records the requests of a store, so that a test can repeat them without the store.
type Tap struct {
	// HTTP sends the requests to the server.
	HTTP http.RoundTripper

	mu    sync.Mutex
	sent  []Sent
	open  int // requests without an answer yet
	round int
}

// Sent is a recorded request.
type Sent struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	// Round is the number of the round, from 0. A request begins the next round if all earlier ones are answered.
	Round int
}

// RoundTrip implements [http.RoundTripper].
func (t *Tap) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	if t.open == 0 && len(t.sent) > 0 {
		t.round++
	}
	t.open++
	t.sent = append(t.sent, Sent{req.Method, req.URL.String(), req.Header.Clone(), body, t.round})
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.open--
	}()
	again := req.Clone(req.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	return t.HTTP.RoundTrip(again)
}

// Take returns the requests that were sent since the last call of Take.
func (t *Tap) Take() []Sent {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.sent, t.round = nil, 0 }()
	return t.sent
}

// send sends a recorded request again, and reads the answer without examining it.
func (t *Tap) send(ctx context.Context, s Sent) error {
	req, err := http.NewRequestWithContext(ctx, s.Method, s.URL, bytes.NewReader(s.Body))
	if err != nil {
		return err
	}
	req.Header = s.Header
	resp, err := t.HTTP.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// Overhead compares queries through this program with sending only the HTTP requests of these queries. It sends the
// requests of one round at once, because only later rounds need their answers. It reports what the function [Overhead]
// reports, and the number of rounds for each query.
func (t *Tap) Overhead(b *testing.B, queries int, whole func(query int) error) {
	b.Helper()
	requests := make([][]Sent, queries)
	for i := range requests {
		if err := whole(i); err != nil { // the first run fills caches
			b.Fatal(err)
		}
		t.Take()
		must.Do(b, whole(i))
		requests[i] = t.Take()
	}
	rounds := 0
	for _, list := range requests {
		for i, s := range list {
			if i == 0 || s.Round != list[i-1].Round {
				rounds++
			}
		}
	}
	Overhead(b, queries, nil, whole, func(i int) error { return t.rounds(b.Context(), requests[i]) })
	b.ReportMetric(float64(rounds)/float64(queries), "rounds")
}

// rounds sends requests again, round by round. It sends the requests of one round at the same time.
func (t *Tap) rounds(ctx context.Context, list []Sent) error {
	for len(list) > 0 {
		group, one := errgroup.WithContext(ctx)
		round := list[0].Round
		for len(list) > 0 && list[0].Round == round {
			sent := list[0]
			group.Go(func() error { return t.send(one, sent) })
			list = list[1:]
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// Fill compares a write of chunks with sending only the requests of an earlier write; fills selects these requests.
// fresh opens an empty store through t, and returns the name of the store's place. Each run writes to a new store. So
// Fill replaces the name of the first store's place in repeated requests.
func (t *Tap) Fill(b *testing.B, chunks []store.Chunk, fresh func() (st store.Backend, place string),
	fills func(s Sent) bool) {
	b.Helper()
	write := func(st store.Backend) error { return st.Write(b.Context(), store.Batch{Chunks: chunks}) }
	st, first := fresh()
	t.Take()
	must.Do(b, write(st))
	sent := slices.DeleteFunc(t.Take(), func(s Sent) bool { return !fills(s) })
	place := ""
	Overhead(b, 1, func() { st, place = fresh() }, func(int) error { return write(st) }, func(int) error {
		for _, s := range sent {
			s.URL = strings.ReplaceAll(s.URL, first, place)
			s.Body = bytes.ReplaceAll(s.Body, []byte(first), []byte(place))
			if err := t.send(b.Context(), s); err != nil {
				return err
			}
		}
		return nil
	})
}

// Collected is a store that keeps the written chunks and the last request. Searches find nothing.
type Collected struct {
	Chunks []store.Chunk
	Asked  store.Request
}

// Write implements [store.Backend].
func (c *Collected) Write(_ context.Context, b store.Batch) error {
	c.Chunks = append(c.Chunks, b.Chunks...)
	return nil
}

// Retrieve implements [store.Backend].
func (c *Collected) Retrieve(_ context.Context, req store.Request) (sheaf.Ranking, error) {
	c.Asked = req
	return nil, nil
}

// Close implements [store.Backend].
func (c *Collected) Close() error { return nil }
