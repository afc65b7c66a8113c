package storekit

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"sheaf"
)

// Calls admits the calls of an open store. It limits the time of each call; a write may take longer, as long as the
// server answers. It runs one write at a time, and refuses every call after Close. Calls is safe for concurrent use.
type Calls struct {
	store    string
	http     *http.Client
	timeout  time.Duration
	readOnly bool
	writing  chan struct{} // holds a token while no write runs

	mu     sync.Mutex
	closed bool
}

// NewCalls returns the Calls of a store. Errors begin with the text in store. Close closes the idle connections of
// client. timeout limits calls without an earlier deadline. If readOnly is true, Calls refuses writes.
func NewCalls(store string, client *http.Client, timeout time.Duration, readOnly bool) *Calls {
	c := &Calls{store: store, http: client, timeout: timeout, readOnly: readOnly, writing: make(chan struct{}, 1)}
	c.writing <- struct{}{}
	return c
}

// Begin returns a context that limits the time of a call. After Close, Begin fails with sheaf.ErrUnavailable. The
// caller must call the returned function when the call has ended.
func (c *Calls) Begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, c.cancelError()
	}
	ctx, stop := context.WithTimeout(ctx, c.timeout)
	return ctx, stop, nil
}

// writeKey is the key in a context for the timeout of each request in a write.
type writeKey struct{}

// writeTimeout returns the timeout of each request in a write. If ctx does not belong to a write, it returns 0.
func writeTimeout(ctx context.Context) time.Duration {
	timeout, _ := ctx.Value(writeKey{}).(time.Duration)
	return timeout
}

// bounded returns a context for one request, and a function that releases the context. If ctx belongs to a write, the
// new context has the timeout of one request of the write. Otherwise, bounded returns ctx itself.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if timeout := writeTimeout(ctx); timeout > 0 {
		return context.WithTimeout(ctx, timeout)
	}
	return ctx, func() {}
}

// WaitsFor reports whether a write should repeat a request to a busy server. began is the time of the first busy
// answer. It returns true until the server has been busy for as long as the timeout of the write's requests. For calls
// other than writes, WaitsFor returns false.
func WaitsFor(ctx context.Context, began time.Time) bool {
	return time.Since(began) < writeTimeout(ctx)
}

// Write waits until earlier writes have ended, then calls f. f as a whole has no time limit, but each request in f has
// the timeout. While the server is busy, f may repeat a request for as long as the timeout: see [WaitsFor].
func (c *Calls) Write(ctx context.Context, f func(context.Context) error) error {
	if c.readOnly {
		return fmt.Errorf("%s: %w: the store is open for reading only", c.store, sheaf.ErrUnsupported)
	}
	select {
	case <-c.writing:
		defer func() { c.writing <- struct{}{} }()
	case <-ctx.Done():
		return fmt.Errorf("%s: wait for another write: %w", c.store, OutOfTime(ctx, ctx.Err()))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Close may have run during the wait.
	if c.isClosed() {
		return c.cancelError()
	}
	return f(context.WithValue(ctx, writeKey{}, c.timeout))
}

// Close waits for a running write and closes idle connections. After that, every call fails, even a second Close.
func (c *Calls) Close() error {
	<-c.writing
	defer func() { c.writing <- struct{}{} }()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.cancelError()
	}
	c.closed = true
	c.http.CloseIdleConnections()
	return nil
}

func (c *Calls) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *Calls) cancelError() error {
	return fmt.Errorf("%s: %w: the store is closed", c.store, sheaf.ErrUnavailable)
}
