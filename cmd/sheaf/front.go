package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	httpdoor "sheaf/door/http"
)

// Timeouts of the server. A request's head and body must come soon, and answers
// are written whole, so slow connections end; they hold no turn meanwhile.
const (
	headTimeout  = 5 * time.Second
	bodyTimeout  = 30 * time.Second
	writeTimeout = 60 * time.Second
	idleTimeout  = 2 * time.Minute
	// graceTimeout is how long running requests may take to end.
	graceTimeout = 10 * time.Second
	maxHead      = 256 << 10
)

// front is a server at one address while what it answers with is exchanged: connections
// stay, and none is refused.
type front struct {
	server *http.Server
	ended  chan error // holds what ended the server
	now    atomic.Pointer[turn]
}

// listenWith makes a front that answers with a handler.
func listenWith(listener net.Listener, handler http.Handler) *front {
	f := &front{ended: make(chan error, 1)}
	f.now.Store(newTurn(handler))
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: headTimeout, ReadTimeout: bodyTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHead, ConnContext: httpdoor.ConnContext, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { f.ended <- f.server.Serve(listener) }()
	return f
}

// ServeHTTP implements [http.Handler].
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for {
		if t := f.now.Load(); t.enter() {
			defer t.leave()
			t.handler.ServeHTTP(w, r)
			return
		}
	}
}

// exchange answers with another handler from now on, and waits until the one before has
// answered, graceTimeout at most.
func (f *front) exchange(handler http.Handler) {
	before := f.now.Swap(newTurn(handler))
	select {
	case <-before.end():
	case <-time.After(graceTimeout):
	}
}

// until answers until ctx ends; the error is what ended it before.
func (f *front) until(ctx context.Context) error {
	select {
	case err := <-f.ended:
		f.ended <- err
		return err
	case <-ctx.Done():
		return nil
	}
}

// close lets running requests end. It may be called again.
func (f *front) close() error {
	grace, cancel := context.WithTimeout(context.Background(), graceTimeout)
	defer cancel()
	err := f.server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = f.server.Close()
	}
	f.ended <- <-f.ended
	return err
}

// turn is a handler from when a front begins to answer with it until it does so no more.
type turn struct {
	handler http.Handler
	mu      sync.Mutex
	running int
	over    bool
	idle    chan struct{} // closed when it is over and nothing runs
}

func newTurn(handler http.Handler) *turn { return &turn{handler: handler, idle: make(chan struct{})} }

// enter reports whether a request may be answered; it is to leave then.
func (t *turn) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.running++
	return true
}

func (t *turn) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running--; t.over && t.running == 0 {
		close(t.idle)
	}
}

// end lets no more requests in; what it returns is closed when the last one has left.
func (t *turn) end() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over = true; t.running == 0 {
		close(t.idle)
	}
	return t.idle
}

// serveUntil answers until ctx ends, lets running requests end, and returns nil.
func serveUntil(ctx context.Context, listener net.Listener, handler http.Handler) error {
	f := listenWith(listener, handler)
	return errors.Join(f.until(ctx), f.close())
}
