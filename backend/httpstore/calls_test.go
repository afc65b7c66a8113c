package httpstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/backend/httpstore"
)

// TestWriteTakesItsTime: a write may take longer than the timeout as long as the server
// answers; a request that it does not answer ends it, with an error that is no
// cancellation, unless the caller went away.
func TestWriteTakesItsTime(t *testing.T) {
	const timeout = 300 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			<-r.Context().Done()
			return
		}
		time.Sleep(timeout / 4)
		fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	client := &httpstore.Client{Store: "test", URL: server.URL, HTTP: server.Client()}
	calls := httpstore.NewCalls("test", server.Client(), timeout, false)
	began := time.Now()
	err := calls.Write(t.Context(), func(ctx context.Context) error {
		for range 8 {
			if err := client.Call(ctx, "GET", "/", nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if took := time.Since(began); err != nil || took < timeout {
		t.Errorf("%v after %v, want nothing wrong after more than %v", err, took, timeout)
	}
	err = calls.Write(t.Context(), func(ctx context.Context) error { return client.Call(ctx, "GET", "/never", nil, nil) })
	if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("a request without an answer: %v, want sheaf.ErrUnavailable", err)
	}
	many := make([]int, 1000)
	err = calls.Write(t.Context(), func(ctx context.Context) error {
		return httpstore.InOrder(ctx, many, func(int) (int, error) { return 0, nil }, func(ctx context.Context, _, _ int) error {
			return client.Call(ctx, "GET", "/never", nil, nil)
		})
	})
	if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("one of many requests without an answer: %v, want sheaf.ErrUnavailable", err)
	}
	err = calls.Write(t.Context(), func(ctx context.Context) error {
		return httpstore.InOrder(ctx, []int{1}, func(int) (int, error) { time.Sleep(2 * timeout); return 0, nil }, func(ctx context.Context, _, _ int) error {
			return client.Call(ctx, "GET", "/", nil, nil)
		})
	})
	if err != nil {
		t.Errorf("a document that takes longer to make: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(timeout/8, cancel)
	err = calls.Write(ctx, func(ctx context.Context) error { return client.Call(ctx, "GET", "/never", nil, nil) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who went away: %v, want context.Canceled", err)
	}
}

// TestWriteWaits: a server that says it is busy, whatever time that takes it, is there,
// and a write goes on.
func TestWriteWaits(t *testing.T) {
	const timeout = 2 * time.Second
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(timeout / 3)
				if asked++; asked < 3 {
					w.WriteHeader(status)
					return
				}
				fmt.Fprint(w, "{}")
			}))
			defer server.Close()
			client := &httpstore.Client{Store: "test", URL: server.URL, HTTP: server.Client()}
			calls := httpstore.NewCalls("test", server.Client(), timeout, false)
			err := calls.Write(t.Context(), func(ctx context.Context) error { return client.Call(ctx, "POST", "/", nil, nil) })
			if err != nil || asked != 3 {
				t.Errorf("%v after %d requests, want an answer to the third", err, asked)
			}
		})
	}
}

// TestWriteEnds: a proxy that does not reach the server is no answer of it: a write ends
// in time.
func TestWriteEnds(t *testing.T) {
	const timeout = time.Second
	for _, status := range []int{http.StatusBadGateway, http.StatusGatewayTimeout} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(timeout / 3)
				w.WriteHeader(status)
			}))
			defer server.Close()
			client := &httpstore.Client{Store: "test", URL: server.URL, HTTP: server.Client(), Attempts: 100}
			calls := httpstore.NewCalls("test", server.Client(), timeout, false)
			began := time.Now()
			err := calls.Write(t.Context(), func(ctx context.Context) error { return client.Call(ctx, "POST", "/", nil, nil) })
			if took := time.Since(began); !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), "no answer in time") || took > 2*timeout {
				t.Errorf("%v after %v, want sheaf.ErrUnavailable after %v", err, took, timeout)
			}
		})
	}
}
