package storekit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"sheaf"
)

// Calls admits the calls of an open store. Each call has a time limit; a write goes on as long as
// the server answers. One write runs at a time, and no call after Close. Calls is safe for
// concurrent use.
type Calls struct {
	store    string
	http     *http.Client
	timeout  time.Duration
	readOnly bool
	writing  chan struct{} // holds a token while no write runs

	mu     sync.Mutex
	closed bool
}

// NewCalls returns the Calls of a store. The store's name begins its errors, and client speaks to
// the server. timeout limits calls without an earlier deadline; readOnly refuses writes.
func NewCalls(store string, client *http.Client, timeout time.Duration, readOnly bool) *Calls {
	c := &Calls{store: store, http: client, timeout: timeout, readOnly: readOnly, writing: make(chan struct{}, 1)}
	c.writing <- struct{}{}
	return c
}

// Begin limits the time of a call; after Close it fails with sheaf.ErrUnavailable. The caller calls
// the returned function when the call has ended.
func (c *Calls) Begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, c.gone()
	}
	ctx, stop := context.WithTimeout(ctx, c.timeout)
	return ctx, stop, nil
}

// silence measures how long a write waits for an answer of the server, and ends the write when it
// waits too long. The time between requests does not count.
type silence struct {
	timeout time.Duration

	mu     sync.Mutex
	asking int // requests that wait for their answers
	timer  *time.Timer
}

// silenceKey is the context key of a silence.
type silenceKey struct{}

// silenceOf returns the silence of a context, or nil.
func silenceOf(ctx context.Context) *silence {
	s, _ := ctx.Value(silenceKey{}).(*silence)
	return s
}

// ask starts the timer unless another request already did; each ask needs an end.
func (s *silence) ask() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking++; s.asking == 1 {
		s.timer.Reset(s.timeout)
	}
}

// end ends a request that ask began.
func (s *silence) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking--; s.asking == 0 {
		s.timer.Stop()
	}
}

// answered restarts the timer after a success or a busy server's answer.
func (s *silence) answered() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking > 0 && s.timer.Stop() { // otherwise it has ended
		s.timer.Reset(s.timeout)
	}
}

// patient returns a context that ends when requests get no answer for the timeout, and the function
// that ends it.
func patient(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	s := &silence{timeout: timeout, timer: time.AfterFunc(timeout, func() { end(context.DeadlineExceeded) })}
	s.timer.Stop()
	return context.WithValue(ctx, silenceKey{}, s), func() { s.timer.Stop(); end(nil) }
}

// WaitsFor reports whether to ask a server again that has been busy since began. A busy server gets
// as much time as a silent one. Only writes wait.
func WaitsFor(ctx context.Context, began time.Time) bool {
	s := silenceOf(ctx)
	return s != nil && time.Since(began) < s.timeout
}

// Write runs f when no other write runs; earlier writes end first. It goes on as long as the server
// answers each request in time. A server may be busy for the same time.
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
		return c.gone()
	}
	ctx, end := patient(ctx, c.timeout)
	defer end()
	err := f(ctx)
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) && !strings.HasPrefix(err.Error(), c.store) {
		return fmt.Errorf("%s: write: %w", c.store, err)
	}
	return err
}

// Close waits for a running write, closes idle connections, and refuses every later call, including
// Close.
func (c *Calls) Close() error {
	<-c.writing
	defer func() { c.writing <- struct{}{} }()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.gone()
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

func (c *Calls) gone() error {
	return fmt.Errorf("%s: %w: the store is closed", c.store, sheaf.ErrUnavailable)
}
