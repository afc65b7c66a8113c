package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
)

// Between starts a proxy in front of a server and returns the proxy's address. For each request the proxy calls
// answer. If answer returns false, the proxy passes the request on to the server.
func Between(t testing.TB, address string,
	answer func(w http.ResponseWriter, r *http.Request, body []byte) bool) string {
	t.Helper()
	u, err := url.Parse(address)
	must.Do(t, err)
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !answer(w, r, body) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// Patience checks that the store repeats a request if the server is busy, unavailable, or breaks the connection. some
// selects the requests to disturb. open opens an empty store at the address of a proxy.
func Patience(t *testing.T, address string, open func(address string) store.Backend, some func(r *http.Request) bool) {
	t.Helper()
	var n atomic.Int64
	faults := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
		func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"took":`)
			panic(http.ErrAbortHandler)
		},
	}
	b := open(Between(t, address, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if !some(r) {
			return false
		}
		k := n.Add(1)
		if k%2 == 0 {
			return false
		}
		faults[int(k/2)%len(faults)](w)
		return true
	}))
	defer b.Close()
	for i := range 6 {
		must.Do(t, b.Write(t.Context(), store.Batch{Chunks: []store.Chunk{Chunk(fmt.Sprintf("t:%d", i), "body",
			"steadfast")}}))
	}
	if r, err := b.Retrieve(t.Context(), Words(sheaf.Match{Text: "steadfast"})); err != nil || len(r) != 6 {
		t.Errorf("%d of 6 found, %v", len(r), err)
	}
	if n.Load() < 12 {
		t.Errorf("%d requests met a fault or might have", n.Load())
	}
}

// PatienceEnds checks a store whose server stays unavailable, answers nonsense, or does not answer. Searches and writes
// must fail as unavailable at the end of their time limit. When the server works again, writes must work again.
func PatienceEnds(t *testing.T, address string, open func(address string) store.Backend) {
	t.Helper()
	for what, fault := range map[string]func(w http.ResponseWriter, r *http.Request){
		"away":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"nonsense": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>login</html>") },
		"slow":     func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		var broken atomic.Bool
		b := open(Between(t, address, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if broken.Load() {
				fault(w, r)
				return true
			}
			return false
		}))
		broken.Store(true)
		check.Is(t, must.Err(b.Retrieve(t.Context(), Words(sheaf.Match{Text: "x"}))), sheaf.ErrUnavailable,
			"%s: search", what)
		batch := store.Batch{Chunks: []store.Chunk{Chunk("t:a", "body", "x")}}
		check.Is(t, b.Write(t.Context(), batch), sheaf.ErrUnavailable, "%s: write", what)
		broken.Store(false)
		check.NoError(t, b.Write(context.Background(), batch), "%s: write when it is back", what)
		if r, err := b.Retrieve(t.Context(), Words(sheaf.Match{Text: "x"})); err != nil || len(r) != 1 {
			t.Errorf("%s: %v found when it is back, %v", what, ids(r), err)
		}
		must.Do(t, b.Close())
	}
}

// TooLarge checks that the store sends a batch in parts if the server or a proxy refuses its size. If a single document
// is too large, the store must name it and write the rest. some selects the requests with documents.
func TooLarge(t *testing.T, address string, open func(address string) store.Backend, some func(r *http.Request) bool) {
	t.Helper()
	const most = 20_000
	b := open(Between(t, address, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if some(r) && len(body) > most {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return true
		}
		return false
	}))
	defer b.Close()
	var batch store.Batch
	for i := range 40 {
		batch.Chunks = append(batch.Chunks, Chunk(fmt.Sprintf("t:%02d", i), "body", fmt.Sprintf("tea %0900d", i)))
	}
	long := Chunk("t:long", "body", "tea")
	long.Columns = []store.Column{{Name: "c"}}
	for i := range 2_000 {
		long.Columns[0].Values = append(long.Columns[0].Values, sheaf.NumberValue(float64(i)))
	}
	batch.Chunks = append(batch.Chunks, long)
	err := b.Write(t.Context(), batch)
	var partial *store.PartialError
	must.That(t, errors.As(err, &partial) && len(partial.Rejected) == 1 &&
		errors.Is(partial.Rejected["t:long"], sheaf.ErrInvalid), "a batch with one document that is too large: %.300v", err)
	if r, err := b.Retrieve(t.Context(), Words(sheaf.Match{Text: "tea"})); err != nil || len(r) != 40 {
		t.Errorf("%d of 40 found, %v", len(r), err)
	}
}
