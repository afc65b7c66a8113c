package http

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// connection is what is known of the connection that requests come over.
type connection struct {
	answered atomic.Pointer[time.Time] // when the last answer was written; nil before
}

type connectionKey struct{}

// ConnContext is the ConnContext of an http.Server that serves an API. With it a busy
// server answers requests in the order in which their callers could send them, not in
// that in which it came to see them. Without it all is well but that.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{})
}

// connectionOf is the connection of a request, nil when it is not known.
func connectionOf(req *http.Request) *connection {
	c, _ := req.Context().Value(connectionKey{}).(*connection)
	return c
}

// headStart is the most by which a request counts as come before it is seen.
const headStart = 20 * time.Millisecond

// came is when a request counts as come that is seen now: when its connection had the
// answer before, if that is no longer ago than headStart.
func (c *connection) came(now time.Time) time.Time {
	if c == nil {
		return now
	}
	answered := c.answered.Load()
	switch {
	case answered == nil:
		return now
	case now.Sub(*answered) > headStart:
		return now.Add(-headStart)
	}
	return *answered
}

// wrote says that an answer was written.
func (c *connection) wrote() {
	if c != nil {
		now := time.Now()
		c.answered.Store(&now)
	}
}
