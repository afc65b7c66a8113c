package storekit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/storekit"
)

// answers is a server in this process, so that synctest can use a fake clock. It returns the status
// of the answer; the body is "{}".
type answers func(r *http.Request) int

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) {
	status := f(r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")),
		Request: r}, nil
}

// of returns a client of a server, which sends a request up to attempts times, and its calls.
func of(f answers, timeout time.Duration, attempts int) (*storekit.Client, *storekit.Calls) {
	client := &storekit.Client{Store: "test", URL: "http://server", HTTP: &http.Client{Transport: f}, Attempts: attempts}
	return client, storekit.NewCalls("test", client.HTTP, timeout, false)
}

// takes waits as long as a slow server, or until the request is canceled.
func takes(r *http.Request, long time.Duration) {
	select {
	case <-time.After(long):
	case <-r.Context().Done():
	}
}

// TestWriteLongerThanTimeout checks that a write may take longer than the timeout while the server
// answers. A request without an answer ends the write as unavailable. Only a caller who cancels
// gets context.Canceled.
func TestWriteLongerThanTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 300 * time.Millisecond
		client, calls := of(func(r *http.Request) int {
			if r.URL.Path == "/never" {
				<-r.Context().Done()
			}
			takes(r, timeout-1)
			return http.StatusOK
		}, timeout, 0)
		began := time.Now()
		err := calls.Write(t.Context(), func(ctx context.Context) error {
			for range 8 {
				if err := client.Call(ctx, "GET", "/", nil, nil); err != nil {
					return err
				}
			}
			return nil
		})
		took := time.Since(began)
		check.That(t, err == nil && took >= timeout, "%v after %v, want nothing wrong after more than %v", err, took, timeout)
		began = time.Now()
		err = calls.Write(t.Context(), func(ctx context.Context) error { return client.Call(ctx, "GET", "/never", nil, nil) })
		took = time.Since(began)
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && strings.Contains(err.Error(), "no answer in time") &&
			took == timeout, "a request without an answer: %v after %v, want sheaf.ErrUnavailable after %v", err, took, timeout)
		many := make([]int, 1000)
		err = calls.Write(t.Context(), func(ctx context.Context) error {
			return storekit.InOrder(ctx, many, func(int) (int, error) { return 0, nil },
				func(ctx context.Context, _, _ int) error {
					return client.Call(ctx, "GET", "/never", nil, nil)
				})
		})
		check.Fails(t, err, sheaf.ErrUnavailable, "no answer in time", "one of many requests without an answer")
		err = calls.Write(t.Context(), func(ctx context.Context) error {
			return storekit.InOrder(ctx, []int{1}, func(int) (int, error) { time.Sleep(2 * timeout); return 0, nil },
				func(ctx context.Context, _, _ int) error {
					return client.Call(ctx, "GET", "/", nil, nil)
				})
		})
		check.NoError(t, err, "a document that takes longer to make")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(timeout/8, cancel)
		err = calls.Write(ctx, func(ctx context.Context) error { return client.Call(ctx, "GET", "/never", nil, nil) })
		check.Is(t, err, context.Canceled, "a caller who went away")
	})
}

// TestProxyErrorEndsWrite checks that an error of a proxy is no answer of the server: the write ends in time.
func TestProxyErrorEndsWrite(t *testing.T) {
	const timeout = time.Second
	for _, status := range []int{http.StatusBadGateway, http.StatusGatewayTimeout} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, calls := of(func(r *http.Request) int { takes(r, timeout/3); return status }, timeout, 100)
				began := time.Now()
				err := calls.Write(t.Context(), func(ctx context.Context) error { return client.Call(ctx, "POST", "/", nil, nil) })
				took := time.Since(began)
				check.That(t, errors.Is(err, sheaf.ErrUnavailable) && strings.Contains(err.Error(), "no answer in time") &&
					took == timeout, "%v after %v, want sheaf.ErrUnavailable after %v", err, took, timeout)
			})
		})
	}
}

// TestWriteWaitsForWriter checks that a write waits for another write for any time, and is refused
// if the store closes.
func TestWriteWaitsForWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 50 * time.Millisecond
		calls := storekit.NewCalls("test", http.DefaultClient, timeout, false)
		begun, end, second := make(chan bool), make(chan bool), make(chan error)
		go func() {
			second <- calls.Write(t.Context(), func(context.Context) error {
				close(begun)
				<-end
				return nil
			})
		}()
		<-begun
		ran := false
		go func() {
			second <- calls.Write(t.Context(), func(context.Context) error { ran = true; return nil })
		}()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		err := calls.Write(gone, func(context.Context) error { return nil })
		check.That(t, errors.Is(err, context.Canceled) && strings.HasPrefix(err.Error(), "test: "),
			"a caller who does not wait: %v, want context.Canceled of the store", err)
		time.Sleep(4 * timeout) // longer than the timeout of a request
		close(end)
		err = errors.Join(<-second, <-second)
		check.That(t, err == nil && ran, "%v, ran %v; want the second to write after the first", err, ran)
		must.Do(t, calls.Close())
		check.Is(t, calls.Write(t.Context(), func(context.Context) error {
			t.Error("wrote after Close")
			return nil
		}), sheaf.ErrUnavailable, "a write after Close")
	})
}

// TestWriteWaitsForServer checks that a write asks a busy server until it answers, also after
// another fault. A busy answer, however slow, counts as an answer. A read gives up after its attempts,
// because its caller waits.
func TestWriteWaitsForServer(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				client, calls := of(func(r *http.Request) int {
					takes(r, time.Minute/3)
					switch asked++; {
					case asked < 5:
						return status
					case asked == 5:
						return http.StatusGatewayTimeout
					}
					return http.StatusOK
				}, time.Minute, 2)
				ask := func(ctx context.Context) error { return client.Call(ctx, "POST", "/", nil, nil) }
				if err := ask(t.Context()); !errors.Is(err, sheaf.ErrUnavailable) || asked != 2 {
					t.Errorf("a read: %v after %d requests, want sheaf.ErrUnavailable after 2", err, asked)
				}
				err := calls.Write(t.Context(), ask)
				check.That(t, err == nil && asked == 6, "a write: %v after %d requests, want the answer to the sixth", err, asked)
			})
		})
	}
}

// TestWriteToBusyServerTimesOut checks that a write asks a busy server until the timeout, whatever the number of
// attempts. The error contains the server's answer.
func TestWriteToBusyServerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Second
		var asked atomic.Int64
		client, calls := of(func(*http.Request) int {
			asked.Add(1)
			return http.StatusTooManyRequests
		}, timeout, 100)
		const together = 8
		began := time.Now()
		err := calls.Write(t.Context(), func(ctx context.Context) error {
			errs := make(chan error)
			for range together {
				go func() { errs <- client.Call(ctx, "POST", "/", nil, nil) }()
			}
			var all error
			for range together {
				err := <-errs
				check.That(t, strings.Contains(fmt.Sprint(err), "status 429"), "%v, want what the server said", err)
				all = errors.Join(all, err)
			}
			return all
		})
		// Pauses are 50, 100, 200, 400 and 800 ms or more: each goroutine sends at most six requests.
		if took := time.Since(began); !errors.Is(err, sheaf.ErrUnavailable) || took < timeout || asked.Load() > 6*together {
			t.Errorf("%v after %v and %d requests, want sheaf.ErrUnavailable after %v and %d at most", err, took, asked.Load(),
				timeout, 6*together)
		}
	})
}
