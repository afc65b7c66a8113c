package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// These limits protect the server from slow or large requests.
const (
	headTimeout  = 5 * time.Second
	bodyTimeout  = 30 * time.Second
	writeTimeout = 60 * time.Second
	idleTimeout  = 2 * time.Minute
	maxHead      = 256 << 10 // largest size of the headers of a request in bytes
)

// graceTimeout is the longest time that the server waits for running requests when it stops or replaces its handler.
const graceTimeout = 10 * time.Second

// httpServer is an HTTP server at one address. setHandler replaces its handler without closing connections.
type httpServer struct {
	server  *http.Server
	ended   chan error // holds the error that ended the server
	current atomic.Pointer[countedHandler]
}

// countedHandler is a handler that counts the requests that it is answering now.
type countedHandler struct {
	http.Handler
	running atomic.Int64
}

func startServer(listener net.Listener, handler http.Handler) *httpServer {
	s := &httpServer{ended: make(chan error, 1)}
	s.current.Store(&countedHandler{Handler: handler})
	s.server = &http.Server{
		Handler: s, ReadHeaderTimeout: headTimeout, ReadTimeout: bodyTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHead,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { s.ended <- s.server.Serve(listener) }()
	return s
}

func (s *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := s.current.Load()
	h.running.Add(1)
	defer h.running.Add(-1)
	h.ServeHTTP(w, r)
}

// setHandler replaces the handler. It waits until the previous handler has answered its requests, at most graceTimeout.
func (s *httpServer) setHandler(handler http.Handler) {
	before := s.current.Swap(&countedHandler{Handler: handler})
	for began := time.Now(); before.running.Load() > 0 && time.Since(began) < graceTimeout; {
		time.Sleep(time.Millisecond)
	}
}

// wait returns nil when ctx ends. If the server ends earlier, wait returns the server's error.
func (s *httpServer) wait(ctx context.Context) error {
	select {
	case err := <-s.ended:
		s.ended <- err
		return err
	case <-ctx.Done():
		return nil
	}
}

// close stops the server. It waits for running requests, for at most graceTimeout. A second call does nothing.
func (s *httpServer) close() error {
	grace, cancel := context.WithTimeout(context.Background(), graceTimeout)
	defer cancel()
	err := s.server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	s.ended <- <-s.ended
	return err
}

// serveUntil serves until ctx ends, then waits for running requests and returns nil. If the server fails before ctx
// ends, serveUntil returns the server's error.
func serveUntil(ctx context.Context, listener net.Listener, handler http.Handler) error {
	s := startServer(listener, handler)
	return errors.Join(s.wait(ctx), s.close())
}
