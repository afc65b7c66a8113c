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

// Calls lets the calls of an open store through: each for a bounded time, or, when it
// writes, while the server answers; one at a time that writes, none after Close. It is safe for concurrent use.
type Calls struct {
	store    string
	http     *http.Client
	timeout  time.Duration
	readOnly bool
	writing  chan struct{} // holds a token while nobody writes

	mu     sync.Mutex
	closed bool
}

// NewCalls is for a store whose name begins its errors, with the client that it
// speaks through. timeout bounds calls that carry no earlier deadline; readOnly
// refuses those that write.
func NewCalls(store string, client *http.Client, timeout time.Duration, readOnly bool) *Calls {
	c := &Calls{store: store, http: client, timeout: timeout, readOnly: readOnly, writing: make(chan struct{}, 1)}
	c.writing <- struct{}{}
	return c
}

// Begin bounds a call; after Close it is sheaf.ErrUnavailable. The function that it
// returns ends the bound.
func (c *Calls) Begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, c.gone()
	}
	ctx, stop := context.WithTimeout(ctx, c.timeout)
	return ctx, stop, nil
}

// silence is for how long a server has been asked without an answer in a write; it ends
// what takes too long. What this program does between requests does not count.
type silence struct {
	timeout time.Duration

	mu     sync.Mutex
	asking int // requests that wait for their answers
	timer  *time.Timer
}

// silenceKey finds the silence of a context.
type silenceKey struct{}

// silenceOf is nil in a context without one.
func silenceOf(ctx context.Context) *silence {
	s, _ := ctx.Value(silenceKey{}).(*silence)
	return s
}

// ask begins to count unless another request does, until end.
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

// end is that of what ask began: nobody waits for that answer any more.
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

// answered begins anew, after an answer that is a success or asks for patience.
func (s *silence) answered() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking > 0 && s.timer.Stop() { // else it has ended
		s.timer.Reset(s.timeout)
	}
}

// patient is a context that ends when requests get no answer for a time, and what ends
// it.
func patient(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	s := &silence{timeout: timeout, timer: time.AfterFunc(timeout, func() { end(context.DeadlineExceeded) })}
	s.timer.Stop()
	return context.WithValue(ctx, silenceKey{}, s), func() { s.timer.Stop(); end(nil) }
}

// WaitsFor reports whether a server that has said since began that it is busy is asked
// again: by a write, for as long as it waits for an answer.
func WaitsFor(ctx context.Context, began time.Time) bool {
	s := silenceOf(ctx)
	return s != nil && time.Since(began) < s.timeout
}

// Write runs f while nobody else writes, for whom it waits: each ends by itself. However
// much there is to write, it goes on as long as the server answers each request in time,
// if only that it is busy, which it may say for as long as that.
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
	// After the wait: the store may have been closed meanwhile.
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

// Close waits for a write that is running, gives connections back that nobody uses,
// and refuses every later call, itself included.
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
